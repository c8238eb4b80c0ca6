import { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { seedOf } from "./choose-motion.ts";
import type { ImageRequest } from "./contract.ts";
import { checkInputs, fetchInputs, type Input } from "./media/fetch-inputs.ts";
import { chooseCaption } from "./plan-edit.ts";
import { type Attempt, runGeneration } from "./run-generation.ts";
import { showRequest } from "./show-request.ts";
import { selectContentTemplate } from "./store.ts";
import { storeResults } from "./store-results.ts";
import type { ContentTemplate } from "./template.ts";
import { excuseCaller, templateInput } from "./template-files.ts";

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
 * account has no room for media; 404 `Template not found`; 409; 502 `Image generation failed`; 504.
 * @throws DatabaseUnavailable
 */
export async function createImage(
  attempt: Attempt,
  body: ImageRequest,
): Promise<{ imageUrl: string; images: readonly string[]; location: string } | AppError> {
  const template = body.template ? await selectContentTemplate(body.template) : null;
  if (isAppError(template)) return template;
  const prompt = body.prompt || template?.image?.prompt;
  if (!prompt) {
    return appError("invalid_request", "prompt is required unless a template has one", {
      fields: ["prompt"],
    });
  }
  const captionText = chooseCaption(template, attempt.effectId);
  const inputs = referencesOf(body, template);
  const refused = checkInputs(inputs);
  if (refused) return excuseCaller(refused, "Image generation failed");

  const done = await runGeneration(
    { ...attempt, kind: "image", payload: showRequest(body), metadata: {} },
    output,
    async ({ runId, folder, signal, progress }) => {
      await progress("fetching");
      const references = await fetchInputs(attempt.accountId, inputs, folder, signal);
      if (isAppError(references)) return excuseCaller(references, "Image generation failed");
      await progress("generating");
      const order = {
        prompt,
        references,
        accountId: attempt.accountId,
        count: body.num_images,
        aspectRatio: body.aspect_ratio,
        resolution: body.resolution,
        styleRules: template?.image?.style_rules,
        model: body.model,
        seed: seedOf(attempt.effectId, "image"),
      };
      const files = await services().content.images(order, folder, signal);
      if (isAppError(files)) return files;
      await progress("storing");
      const images = await storeResults(attempt.accountId, runId, files);
      if (isAppError(images)) return images;
      const [imageUrl] = images;
      if (imageUrl === undefined) throw new Error("The content provider returned no image");
      return {
        ...{ imageUrl, images },
        ...(captionText ? { captionText } : {}),
        ...(body.template ? { template: body.template } : {}),
      };
    },
  );
  if (isAppError(done)) return done;
  const { imageUrl, images } = done.output;
  return { imageUrl, images, location: done.location };
}

/** Returns the references of the request, or those of the template when it has none. */
function referencesOf(body: ImageRequest, template: ContentTemplate | null): Input[] {
  const own = [
    ...(body.reference_image_url ? [["reference_image_url", body.reference_image_url]] : []),
    ...(body.images ?? []).map((url, index) => [`images.${index}`, url]),
  ].map(([field = "", url = ""]): Input => ({ field, url: new URL(url), kind: "image" }));
  if (own.length > 0) return own;
  return (template?.image?.reference_images ?? []).map((url) => templateInput(url, "image"));
}
