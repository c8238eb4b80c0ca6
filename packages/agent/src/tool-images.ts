/**
 * Images of tool results. They are files of the sandbox, because neither a message nor a turn keeps bytes: a
 * result names the path, and a model that reads images gets the file after the results of its step.
 */
import { createHash } from "node:crypto";
import { isSandboxError, type Sandbox } from "@platform/sandbox/port";
import type { ModelMessage, ToolModelMessage, ToolResultPart } from "ai";
import { imageTypeOf } from "./image-type.ts";
import { NOTE } from "./prompt.ts";
import type { StepResult } from "./step-result.ts";
import { isMcpName } from "./tools/mcp-tool.ts";

/** The tool that names images in a field. */
const READ = "read";

/** The maximum of a turn, or of a subagent. */
const MAX_SHOWN = 30;
/** The images of a request, the newest first. */
const MAX_SHOWN_BYTES = 15 * 1024 * 1024;
const PATH = /\/home\/agent\/\.results\/image-[0-9a-f]{16}\.(?:png|jpeg|gif|webp)/g;
const URL_START = "sandbox:";

/**
 * Stores an image where the model and its commands find it. Resolves with null for one that models do not accept.
 * @throws SandboxError
 */
export async function storeImage(sandbox: Sandbox, bytes: Uint8Array) {
  const mediaType = imageTypeOf(bytes);
  if (mediaType === null) return null;
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const path = `/home/agent/.results/image-${digest}.${mediaType.slice("image/".length)}`;
  await sandbox.writeFile(path, bytes);
  return { path, mediaType };
}

/** Returns the paths of a result of `read`. The text of a file may name others. */
function imagesRead(output: ToolResultPart["output"]): string[] {
  const images: unknown = output.type === "json" ? Object(output.value).images : undefined;
  return JSON.stringify(images)?.match(PATH) ?? [];
}

/**
 * Returns the message with the images of results, as their paths; null without any. An image that a server repeats is
 * shown once, one that the agent reads again is shown again.
 */
export function imagesMessage(
  results: ToolModelMessage | null,
  steps: readonly StepResult[],
): ModelMessage | null {
  const shown = steps.flatMap(({ messages }) => messages).flatMap(pathsOf);
  const named = (results?.content ?? []).flatMap((part) => {
    if (part.type !== "tool-result") return [];
    if (part.toolName === READ) return imagesRead(part.output);
    const paths = isMcpName(part.toolName) ? (JSON.stringify(part.output).match(PATH) ?? []) : [];
    return paths.filter((path) => !shown.includes(path));
  });
  const all = [...new Set(named)];
  if (all.length === 0) return null;
  const paths = all.slice(0, Math.max(0, MAX_SHOWN - shown.length));
  const left = all.slice(paths.length);
  const text = [
    NOTE,
    ...(paths.length > 0
      ? [`The images of these results, in their order: ${paths.join(", ")}`]
      : []),
    ...(left.length > 0
      ? [
          `Not shown, because a turn, and each subagent, shows at most ${MAX_SHOWN} images: ${left.join(", ")}`,
        ]
      : []),
  ].join(" ");
  return {
    role: "user",
    content: [
      { type: "text", text },
      ...paths.map((path) => ({
        type: "file" as const,
        mediaType: `image/${path.slice(path.lastIndexOf(".") + 1)}`,
        data: URL_START + path,
      })),
    ],
  };
}

/** Returns the paths of the images that a message has. */
export const pathsOf = ({ role, content }: ModelMessage): string[] =>
  role === "user" && typeof content !== "string"
    ? content.flatMap((part) =>
        part.type === "file" && isToolImage(part.data) ? [part.data.slice(URL_START.length)] : [],
      )
    : [];

/** Returns whether the data of a file are the path of an image of a result. */
export const isToolImage = (data: unknown): data is string =>
  typeof data === "string" && data.startsWith(`${URL_START}/home/agent/.results/image-`);

/** Returns the message without the images of results. */
export const withoutImages = (message: ModelMessage): ModelMessage =>
  message.role !== "user" || typeof message.content === "string"
    ? message
    : {
        ...message,
        content: message.content.filter((part) => part.type !== "file" || !isToolImage(part.data)),
      };

const opened = new WeakMap<ModelMessage, ReturnType<typeof openImages>>();

/**
 * Returns the messages with the bytes of the images that they refer to. One that is gone is left out, and so are the
 * oldest of too many bytes.
 */
export async function withImages(
  messages: readonly ModelMessage[],
  sandbox: Sandbox,
): Promise<ModelMessage[]> {
  const shown: ModelMessage[] = [];
  let room = MAX_SHOWN_BYTES;
  for (const message of messages.toReversed()) {
    if (pathsOf(message).length === 0) {
      shown.unshift(message);
      continue;
    }
    const opening = opened.get(message) ?? openImages(message, sandbox);
    const { message: whole, bytes } = await opening;
    room -= bytes;
    if (room >= 0) opened.set(message, opening);
    shown.unshift(room >= 0 ? whole : withoutImages(message));
  }
  return shown;
}

async function openImages(message: ModelMessage, sandbox: Sandbox) {
  let total = 0;
  const files = await Promise.all(
    pathsOf(message).map(async (path) => {
      const bytes = await sandbox.readFile(path).catch((error: unknown) => {
        if (isSandboxError(error)) return null;
        throw error;
      });
      const mediaType = bytes && imageTypeOf(bytes);
      if (!bytes || !mediaType) return [];
      total += bytes.byteLength;
      return [{ type: "file" as const, mediaType, data: Buffer.from(bytes).toString("base64") }];
    }),
  );
  const { content } = withoutImages(message);
  const whole: ModelMessage = { role: "user", content: [...(content as []), ...files.flat()] };
  return { message: whole, bytes: total };
}
