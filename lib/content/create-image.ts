import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { type StandIn, standInOutput } from "@platform/media/port";
import { z } from "zod";
import { networkOf } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import type { ImageRequest } from "./contract.ts";
import { type Attempt, queueGeneration, type StartParts } from "./generation.ts";
import { planImages, showRequest } from "./generation-order.ts";
import { filePrice } from "./media-store.ts";

const output = z.object({ ...standInOutput, imageUrl: z.url(), images: z.array(z.url()) });

/**
 * Generates images, stores them as media of the account and returns their URLs.
 *
 * Errors: 400 for a request without a prompt, or with a reference that cannot be used; 403 when the
 * account has no room for media; 404 `Template not found`; 409; 502 `Image generation failed`; 503
 * without a provider; 504. @throws DatabaseUnavailable
 */
export async function createImage(
  app: StartParts & Parts<"mediaProvider" | "mediaStorage" | "models">,
  attempt: Attempt,
  body: ImageRequest,
): Promise<
  ({ imageUrl: string; images: readonly string[]; location: string } & StandIn) | AppError
> {
  const { caller, effectId } = attempt;
  const request = { kind: "image", effectId, network: networkOf(caller), body } as const;
  const provider = app.mediaProvider;
  if (!provider) return notConfigured;
  const plan = await planImages(app, request);
  if (isAppError(plan)) return plan;
  const price = await filePrice(app, "image", provider.imageModel(plan.order, plan.inputs.length));
  const generation = {
    ...attempt,
    costUsd: price === null ? null : price * plan.order.count,
    artistId: body.artist_id,
    kind: "image",
    payload: showRequest(body),
    metadata: {},
  } as const;
  const done = await queueGeneration(app, generation, request, output);
  if (isAppError(done)) return done;
  return { ...done.output, location: done.location };
}

const notConfigured = appError("not_configured", "Image generation is not configured");
