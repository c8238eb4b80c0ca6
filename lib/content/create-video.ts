import { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { keyIdOf } from "../identity/credentials/caller.ts";
import { services } from "../platform/services.ts";
import type { VideoRequest } from "./contract.ts";
import type { VideoMode } from "./port.ts";
import { queueGeneration } from "./queue-generation.ts";
import { type Attempt, runGeneration } from "./run-generation.ts";
import { showRequest } from "./show-request.ts";
import { filePrice, storeResults } from "./store-results.ts";
import { fetchEdit, fetchVideoOrder, planVideo } from "./video-order.ts";

const output = z.object({
  videoSourceUrl: z.url(),
  imageUrl: z.url().optional(),
  captionText: z.string().optional(),
  template: z.string().optional(),
  lipsync: z.boolean(),
  audio: z.looseObject({}).optional(),
});

/**
 * Generates a video, stores it as media of the account and returns its URL.
 *
 * Errors: 400 for an input that the mode requires or cannot use; 403 when the account has no room
 * for media; 404 `Template not found`; 409; 502 `Video generation failed`; 503 without a provider;
 * 504. @throws DatabaseUnavailable
 */
export async function createVideo(
  attempt: Attempt,
  body: VideoRequest,
): Promise<{ videoUrl: string; mode: VideoMode; location: string } | AppError> {
  const { caller, effectId } = attempt;
  const { accountId } = caller;
  const provider = services().content;
  if (!provider?.makesVideos) return notConfigured;
  const plan = await planVideo(body, effectId);
  if (isAppError(plan)) return plan;
  const { mode, movement, mood } = plan.order;
  const model = provider.kind === "queueing" ? provider.videoModel(plan.order) : provider.name;
  const generation = {
    ...attempt,
    costUsd: await filePrice("video", model),
    artistId: body.artist_id,
    kind: "video",
    payload: showRequest({ ...body, mode }),
    metadata: { mode, movement, mood },
  } as const;
  const done =
    provider.kind === "queueing"
      ? await queueGeneration(generation, { kind: "video", effectId, body }, output)
      : await runGeneration(generation, output, async ({ runId, folder, signal, progress }) => {
          await progress("fetching");
          const edit = await fetchEdit(accountId, plan, folder, signal);
          if (isAppError(edit)) return edit;
          const fetched = await fetchVideoOrder(accountId, plan, folder, signal);
          if (isAppError(fetched)) return fetched;
          await progress("generating");
          const file = await provider.video({ ...fetched.order, edit }, folder, signal);
          if (isAppError(file)) return file;
          await progress("storing");
          const stored = await storeResults(
            {
              accountId,
              runId,
              kind: "video",
              model: provider.name,
              credentialId: keyIdOf(caller),
            },
            [file],
          );
          if (isAppError(stored)) return stored;
          return { videoSourceUrl: z.string().parse(stored[0]), ...fetched.details };
        });
  if (isAppError(done)) return done;
  return { videoUrl: done.output.videoSourceUrl, mode, location: done.location };
}

const notConfigured = appError("not_configured", "Video generation is not configured");
