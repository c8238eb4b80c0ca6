/** The order of an image request: planned before a run starts, and fetched within the run. */
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { seedOf } from "./choose-motion.ts";
import type { ImageRequest } from "./contract.ts";
import { checkInputs, fetchInputs, type Input } from "./media/fetch-inputs.ts";
import { chooseCaption } from "./plan-edit.ts";
import type { ImageOrder, Ordered } from "./port.ts";
import { selectContentTemplate } from "./store.ts";
import type { ContentTemplate } from "./template.ts";
import { excuseCaller, templateInput } from "./template-files.ts";

const FAILED = "Image generation failed";

export interface ImagePlan {
  /** The order without its files. */
  readonly order: Omit<ImageOrder, "references">;
  readonly inputs: readonly Input[];
  /** The fields of the run's output besides the URLs of the images. */
  readonly details: { readonly captionText?: string; readonly template?: string };
}

/**
 * Plans the same for every attempt at a request. Errors: 400 for a request without a prompt, or with
 * a reference that cannot be used; 404 `Template not found`.
 */
export async function planImages(
  body: ImageRequest,
  effectId: string,
): Promise<ImagePlan | AppError> {
  const template = body.template ? await selectContentTemplate(body.template) : null;
  if (isAppError(template)) return template;
  const prompt = body.prompt || template?.image?.prompt;
  if (!prompt) {
    return appError("invalid_request", "prompt is required unless a template has one", {
      fields: ["prompt"],
    });
  }
  const inputs = referencesOf(body, template);
  const refused = checkInputs(inputs);
  if (refused) return excuseCaller(refused, FAILED);
  const captionText = chooseCaption(template, effectId);
  const order = {
    prompt,
    count: body.num_images,
    aspectRatio: body.aspect_ratio,
    resolution: body.resolution,
    styleRules: template?.image?.style_rules,
    model: body.model,
    seed: seedOf(effectId, "image"),
  };
  const details = {
    ...(captionText ? { captionText } : {}),
    ...(body.template ? { template: body.template } : {}),
  };
  return { order, inputs, details };
}

/** Fetches the references. Errors: 400 for one that cannot be used; 429; 502; 503. */
export async function fetchImageOrder(
  accountId: string,
  { order, inputs }: ImagePlan,
  folder: string,
  signal: AbortSignal,
): Promise<Ordered<ImageOrder> | AppError> {
  const references = await fetchInputs(accountId, inputs, folder, signal);
  if (isAppError(references)) return excuseCaller(references, FAILED);
  return { ...order, accountId, references };
}

/** Returns the references of the request, or the template's when the request has none. */
function referencesOf(body: ImageRequest, template: ContentTemplate | null): Input[] {
  const own = [
    ...(body.reference_image_url ? [["reference_image_url", body.reference_image_url]] : []),
    ...(body.images ?? []).map((url, index) => [`images.${index}`, url]),
  ].map(([field = "", url = ""]): Input => ({ field, url: new URL(url), kind: "image" }));
  if (own.length > 0) return own;
  return (template?.image?.reference_images ?? []).map((url) => templateInput(url, "image"));
}
