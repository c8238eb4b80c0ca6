import { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { keyIdOf } from "../identity/credentials/caller.ts";
import { services } from "../platform/services.ts";
import type { ImageRequest } from "./contract.ts";
import { fetchImageOrder, planImages } from "./image-order.ts";
import { queueGeneration } from "./queue-generation.ts";
import { type Attempt, runGeneration } from "./run-generation.ts";
import { showRequest } from "./show-request.ts";
import { filePrice, storeResults } from "./store-results.ts";

const output = z.object({
  imageUrl: z.url(),
  images: z.array(z.url()),
  captionText: z.string().optional(),
  template: z.string().optional(),
});

/**
 * Generates images, stores them as media of the account and returns their URLs.
 *
 * Errors: 400 for a request without a prompt, or with a reference that cannot be used; 403 when the
 * account has no room for media; 404 `Template not found`; 409; 502 `Image generation failed`; 503
 * without a provider; 504. @throws DatabaseUnavailable
 */
export async function createImage(
  attempt: Attempt,
  body: ImageRequest,
): Promise<{ imageUrl: string; images: readonly string[]; location: string } | AppError> {
  const { caller, effectId } = attempt;
  const { accountId } = caller;
  const provider = services().content;
  if (!provider) return notConfigured;
  const plan = await planImages(body, effectId);
  if (isAppError(plan)) return plan;
  const model =
    provider.kind === "queueing"
      ? provider.imageModel(plan.order, plan.inputs.length)
      : provider.name;
  const price = await filePrice("image", model);
  const generation = {
    ...attempt,
    costUsd: price === null ? null : price * plan.order.count,
    artistId: body.artist_id,
    kind: "image",
    payload: showRequest(body),
    metadata: {},
  } as const;
  const done =
    provider.kind === "queueing"
      ? await queueGeneration(generation, { kind: "image", effectId, body }, output)
      : await runGeneration(generation, output, async ({ runId, folder, signal, progress }) => {
          await progress("fetching");
          const order = await fetchImageOrder(accountId, plan, folder, signal);
          if (isAppError(order)) return order;
          await progress("generating");
          const files = await provider.images(order, folder, signal);
          if (isAppError(files)) return files;
          await progress("storing");
          const images = await storeResults(
            {
              accountId,
              runId,
              kind: "image",
              model: provider.name,
              credentialId: keyIdOf(caller),
            },
            files,
          );
          if (isAppError(images)) return images;
          return { imageUrl: z.string().parse(images[0]), images, ...plan.details };
        });
  if (isAppError(done)) return done;
  const { imageUrl, images } = done.output;
  return { imageUrl, images, location: done.location };
}

const notConfigured = appError("not_configured", "Image generation is not configured");
