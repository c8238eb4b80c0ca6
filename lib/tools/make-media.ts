/** Generates an image or a video for the tool `make_media`, and writes it into the sandbox. */

import { createReadStream } from "node:fs";
import { extname, join } from "node:path";
import type { MediaRequest } from "@platform/agent/tools/media-request";
import { toolFailure } from "@platform/agent/tools/tool";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { describeIssue } from "@platform/endpoint/contract/describe-issue";
import { standInOutput } from "@platform/media/port";
import { isSandboxError } from "@platform/sandbox/port";
import type { JSONValue } from "ai";
import { z } from "zod";
import type { StartParts } from "../content/generation.ts";
import { MEDIA_FOLDER, mediaOrder } from "../content/media-order.ts";
import type { Caller } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { ActiveTurn } from "../running-turn/state.ts";
import { openSandbox } from "../running-turn/turn-sandbox.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";

/** The parts of the service that generate media for a turn. */
export type MediaParts = StartParts &
  Parts<"mediaProvider" | "mediaStorage" | "models" | "queues" | "sandboxes">;

interface MediaWork {
  readonly turnId: string;
  readonly runId: string;
  readonly turn: ActiveTurn;
  /** The same for each repetition of the call. */
  readonly effectId: string;
  /** Whether the call has started before, in a process that died. */
  readonly isRepeated: boolean;
  readonly signal: AbortSignal;
}

const output = z.object({
  ...standInOutput,
  imageUrl: z.string().optional(),
  videoUrl: z.string().optional(),
  /** The URL in the run of the video. */
  videoSourceUrl: z.string().optional(),
});

/**
 * Resolves with the file `{path, url, width, height, format, bytes, …}` or `{error}`. A call that a crash has cut waits for
 * the run that it has ordered, and never orders another one. @throws DatabaseUnavailable
 */
export async function makeMedia(
  app: MediaParts,
  work: MediaWork,
  request: MediaRequest,
): Promise<JSONValue> {
  const { turn, effectId, signal } = work;
  const { awaitEarlier } = await import("../content/generation.ts");
  const wait = { kind: request.kind, signal };
  const earlier = work.isRepeated
    ? await awaitEarlier(app.db, turn.account_id, effectId, wait)
    : null;
  const done = earlier ?? (await orderMedia(app, work, request));
  signal.throwIfAborted();
  if (isAppError(done)) return toolFailure(done.message);
  const { imageUrl, videoUrl, videoSourceUrl, ...standIn } = output.parse(
    "taskIdentifier" in done ? done.output : done,
  );
  const url = request.kind === "image" ? imageUrl : (videoUrl ?? videoSourceUrl);
  if (url === undefined) throw new Error(`A generated ${request.kind} has no URL`);
  return { ...(await storeFile(app, work, request.prompt, url)), ...standIn };
}

async function orderMedia(app: MediaParts, work: MediaWork, request: MediaRequest) {
  const { turn, turnId, runId, effectId, signal } = work;
  if (!turn.key_id) return noCredential;
  const { file } = mediaOrder(request);
  const uploaded = file === undefined ? undefined : await uploadFile(app, turn, file);
  if (isAppError(uploaded)) return uploaded;
  const { body } = mediaOrder(request, uploaded?.url);
  const run = {
    ...{ turnId, runId, sessionId: turn.session_id, chatId: turn.chat_id },
    ...{ artistId: turn.artist_id, workspace: turn.options.workspace ?? ("write" as const) },
    ...{ asks: [], network: turn.options.network_policies ?? [] },
  };
  const caller: Caller = {
    accountId: turn.account_id,
    ownerId: turn.account_id,
    credential: { kind: "run", keyId: turn.key_id, run },
  };
  const keepAlive = () => {};
  const attempt = { caller, effectId, idempotencyKey: null, keepAlive, signal };
  const { imageBody, videoBody } = await import("../content/contract.ts");
  if (request.kind === "image") {
    const image = imageBody.safeParse(body, { error: describeIssue });
    if (!image.success) return invalid(image.error);
    return (await import("../content/create-image.ts")).createImage(app, attempt, image.data);
  }
  const video = videoBody.safeParse(body, { error: describeIssue });
  if (!video.success) return invalid(video.error);
  return (await import("../content/create-video.ts")).createVideo(app, attempt, video.data);
}

const noCredential = appError("forbidden", "The run has no credential to generate media with");
const invalid = ({ issues }: z.ZodError): AppError =>
  appError("invalid_request", issues[0]?.message ?? "The request is not valid");

/** Stores a file of the sandbox as media of the account, because providers fetch their inputs. @throws SandboxError */
async function uploadFile(app: MediaParts, turn: ActiveTurn, path: string) {
  const bytes = await openSandbox(app, turn).readFile(path);
  const { uploadMedia } = await import("../content/upload-media.ts");
  const upload = new Request(serviceOrigin(), { method: "POST", body: Buffer.from(bytes) });
  const stored = await uploadMedia(app, turn.account_id, upload);
  return isAppError(stored) ? appError(stored.code, `${path}: ${stored.message}`) : stored;
}

/** Writes generated media into the sandbox, and describes the file by its content. */
async function storeFile(
  app: MediaParts,
  { turn, effectId, signal }: MediaWork,
  prompt: string,
  url: string,
) {
  const [{ withWorkFolder }, { probeMedia }, { sniffFile }] = await Promise.all([
    import("../content/work-folder.ts"),
    import("@platform/media/probe-media"),
    import("@platform/media/sniff-file"),
  ]);
  const state = storedSandbox.nullable().parse(turn.sandbox_state);
  const key = app.mediaStorage.keyOf(new URL(url));
  if (!key || key === "malformed") throw new Error("Generated media are not in the storage");
  const words = prompt.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = [...words.slice(0, 4).map((word) => word.slice(0, 20)), effectId.slice(0, 8)];
  const path = `${MEDIA_FOLDER}${name.join("-")}${extname(key.name)}`;
  return withWorkFolder(async (folder) => {
    const copy = join(folder, key.name);
    if (!state || !(await app.mediaStorage.copyTo(key, copy))) {
      return toolFailure(`The session has no sandbox, or the file was deleted: ${url}`);
    }
    const format = await sniffFile(copy);
    const probed = await probeMedia(app.queues.probes, copy, turn.account_id, signal);
    const { kind: _, ...sides } = probed === null || isAppError(probed) ? { kind: "" } : probed;
    try {
      const files = app.sandboxes.openFiles(state, turn.account_id);
      const { size } = await files.writeStream(path, createReadStream(copy));
      return { path, url, ...sides, format, bytes: size };
    } catch (error) {
      if (!isSandboxError(error)) throw error;
      // It has been paid for.
      return toolFailure(`It was generated, but not written (${error.code}): ${url}`);
    }
  });
}
