import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { type StandIn, standInOutput, type VideoMode } from "@platform/media/port";
import { z } from "zod";
import { networkOf } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import type { VideoRequest } from "./contract.ts";
import { type Attempt, queueGeneration, type StartParts } from "./generation.ts";
import { planVideo, showRequest } from "./generation-order.ts";
import { filePrice } from "./media-store.ts";

const output = z.object({ ...standInOutput, videoSourceUrl: z.url() });

/**
 * Generates a video, stores it as media of the account and returns its URL.
 *
 * Errors: 400 for an input that the mode requires or cannot use; 403 when the account has no room
 * for media; 404 `Template not found`; 409; 502 `Video generation failed`; 503 without a provider;
 * 504. @throws DatabaseUnavailable
 */
export async function createVideo(
  app: StartParts & Parts<"mediaProvider" | "mediaStorage" | "models">,
  attempt: Attempt,
  body: VideoRequest,
): Promise<({ videoUrl: string; mode: VideoMode; location: string } & StandIn) | AppError> {
  const { caller, effectId } = attempt;
  const request = { kind: "video", effectId, network: networkOf(caller), body } as const;
  const provider = app.mediaProvider;
  if (!provider?.makesVideos) return notConfigured;
  const plan = await planVideo(app, request);
  if (isAppError(plan)) return plan;
  const { mode, movement, mood } = plan.order;
  const generation = {
    ...attempt,
    costUsd: await filePrice(app, "video", provider.videoModel(plan.order)),
    artistId: body.artist_id,
    kind: "video",
    payload: showRequest({ ...body, mode }),
    metadata: { mode, movement, mood },
  } as const;
  const done = await queueGeneration(app, generation, request, output);
  if (isAppError(done)) return done;
  const { videoSourceUrl: videoUrl, ...standIn } = done.output;
  return { videoUrl, mode, ...standIn, location: done.location };
}

const notConfigured = appError("not_configured", "Video generation is not configured");
