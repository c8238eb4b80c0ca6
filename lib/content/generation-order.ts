/** The orders of image and video requests: planned before a run starts, and fetched within the run. */
import { basename } from "node:path";
import { type AppError, invalidField, isAppError } from "@platform/endpoint/contract/app-error";
import type { TurnPolicies } from "@platform/kit/network-policy";
import type { EditStep, ImageOrder, Ordered, VideoOrder } from "@platform/media/port";
import type { Parts } from "../parts.ts";
import type { ImageRequest, VideoRequest } from "./contract.ts";
import { checkInputs, fetchInputs, type Input, type InputParts } from "./fetch-inputs.ts";
import {
  asMediaFailure,
  aspectRatioOf,
  audioInputs,
  chooseCaption,
  chooseMotion,
  type PlannedStep,
  planEdit,
  seedOf,
  templateInput,
} from "./plan-edit.ts";
import { selectContentTemplate } from "./store.ts";
import type { ContentTemplate } from "./template.ts";
import { INPUTS_OF, type InputField, missingInput, modeOf } from "./video-mode.ts";

/** The longest input that the hosted models accept. */
const MAX_VIDEO_SECONDS = 8;
/** By the resolution of the video in which it is sung or said. */
const MAX_AUDIO_SECONDS = { "720p": 60, "1080p": 30, "4k": 30 } as const;
/** The length that a container states is not exact to the frame. */
const TOLERANCE_SECONDS = 0.1;

const KIND_OF = {
  image_url: "image",
  end_image_url: "image",
  video_url: "video",
  audio_url: "audio",
} as const satisfies Readonly<Record<InputField, Input["kind"]>>;

/** A request as every attempt plans it. */
interface PlannedRequest<Body> {
  readonly body: Body;
  readonly effectId: string;
  /** The network policies of the run that has made the request; absent for all others. */
  readonly network?: TurnPolicies | undefined;
}

interface VideoPlan {
  /** The order without its files. */
  readonly order: VideoOrder;
  readonly inputs: readonly Input[];
  readonly steps: readonly PlannedStep[];
  readonly captionText: string | undefined;
  readonly template: string | undefined;
}

/**
 * Plans the same for every attempt at a request. Errors: 400 for an input that the mode requires or
 * cannot use, and when mode `prompt` has neither a prompt nor a template with motion; 404.
 */
export async function planVideo(
  app: Parts<"db" | "mediaStorage">,
  { body, effectId, network: policies }: PlannedRequest<VideoRequest>,
): Promise<VideoPlan | AppError> {
  const mode = modeOf(body);
  const missing = missingInput(mode, body);
  if (missing) return missing;
  const inputs = INPUTS_OF[mode].flatMap((field): Input[] => {
    const text = body[field];
    return text ? [{ field, url: new URL(text), kind: KIND_OF[field], policies }] : [];
  });
  const refused = checkInputs(app.mediaStorage, inputs);
  if (refused) return refused;
  const template = body.template ? await selectContentTemplate(app.db, body.template) : null;
  if (isAppError(template)) return template;
  // A prompt of the caller replaces the movement and the mood of the template.
  const motion = template && !body.prompt ? chooseMotion(template, effectId) : {};
  if (mode === "prompt" && !body.prompt && !motion.movement && !motion.mood) {
    return invalidField("prompt", "prompt is required for mode prompt");
  }
  const captionText = chooseCaption(template, effectId);
  const steps = planEdit(template, mode, body, captionText);
  const order = {
    ...motion,
    mode,
    prompt: body.prompt ?? "",
    negativePrompt: body.negative_prompt,
    styleRules: template?.image?.style_rules,
    aspectRatio: aspectRatioOf(body, steps),
    seconds: Number.parseInt(body.duration ?? (mode === "extend" ? "7s" : "8s"), 10),
    resolution: body.resolution,
    generateAudio: body.generate_audio,
    model: body.model,
    seed: seedOf(effectId, "video"),
  };
  return { order, inputs, steps, captionText, template: body.template };
}

/**
 * Fetches the files of the order; `details` are the fields of the run's output besides the URL. Errors: 400 for
 * one that cannot be used; 429; 503.
 */
export async function fetchVideoOrder(
  app: InputParts,
  accountId: string,
  plan: VideoPlan,
  folder: string,
  signal: AbortSignal,
): Promise<{ order: Ordered<VideoOrder>; details: object } | AppError> {
  const { inputs, captionText, template } = plan;
  const files = await fetchInputs(app, accountId, inputs, folder, signal);
  if (isAppError(files)) return files;
  const fileOf = (field: InputField) => files[inputs.findIndex((one) => one.field === field)];
  const [image, audio, video] = [fileOf("image_url"), fileOf("audio_url"), fileOf("video_url")];
  const { resolution } = plan.order;
  for (const [field, most] of [
    ["video_url", MAX_VIDEO_SECONDS],
    ["audio_url", MAX_AUDIO_SECONDS[resolution]],
  ] as const) {
    const { seconds = 0 } = fileOf(field) ?? {};
    if (seconds <= most + TOLERANCE_SECONDS) continue;
    const where = field === "audio_url" ? ` at ${resolution}` : "";
    return invalidField(field, `${field} must be at most ${most} seconds${where}`);
  }
  const order = {
    ...plan.order,
    accountId,
    image,
    audio,
    video,
    endImage: fileOf("end_image_url"),
  };
  const details = {
    ...(image ? { imageUrl: showUrl(image.url) } : {}),
    ...(captionText ? { captionText } : {}),
    ...(template ? { template } : {}),
    lipsync: plan.order.mode === "lipsync",
    ...(audio && {
      audio: {
        songFilename: basename(new URL(audio.url).pathname),
        startSeconds: 0,
        durationSeconds: audio.seconds ?? 0,
      },
    }),
  };
  return { order, details };
}

/** Fetches the files that the template's edit needs. Errors: 429; 502; 503. */
export async function fetchEdit(
  app: InputParts,
  accountId: string,
  { steps }: VideoPlan,
  folder: string,
  signal: AbortSignal,
): Promise<readonly EditStep[] | AppError> {
  const inputs = audioInputs(steps);
  const files =
    checkInputs(app.mediaStorage, inputs) ??
    (await fetchInputs(app, accountId, inputs, folder, signal));
  if (isAppError(files)) return asMediaFailure(files, "video");
  const audio = files.values();
  return steps.map((step) => {
    if (step.kind !== "audio") return step;
    const { value: file } = audio.next();
    if (!file) throw new Error("The audio of a step was not fetched");
    const { url: _, ...rest } = step;
    return { ...rest, audio: file };
  });
}

interface ImagePlan {
  /** The order without its files. */
  readonly order: Omit<ImageOrder, "references">;
  readonly inputs: readonly Input[];
  /** The fields of the run's output besides the URLs of the images. */
  readonly details: object;
}

/**
 * Plans the same for every attempt at a request. Errors: 400 for a request without a prompt, or with
 * a reference that cannot be used; 404 `Template not found`.
 */
export async function planImages(
  app: Parts<"db" | "mediaStorage">,
  { body, effectId, network }: PlannedRequest<ImageRequest>,
): Promise<ImagePlan | AppError> {
  const template = body.template ? await selectContentTemplate(app.db, body.template) : null;
  if (isAppError(template)) return template;
  const prompt = body.prompt || template?.image?.prompt;
  if (!prompt) {
    return invalidField("prompt", "prompt is required unless a template has one");
  }
  const inputs = referencesOf(body, template, network);
  const refused = checkInputs(app.mediaStorage, inputs);
  if (refused) return asMediaFailure(refused, "image");
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
  app: InputParts,
  accountId: string,
  { order, inputs }: ImagePlan,
  folder: string,
  signal: AbortSignal,
): Promise<Ordered<ImageOrder> | AppError> {
  const references = await fetchInputs(app, accountId, inputs, folder, signal);
  if (isAppError(references)) return asMediaFailure(references, "image");
  return { ...order, accountId, references };
}

/** Returns the references of the request, or the template's when the request has none. */
function referencesOf(
  body: ImageRequest,
  template: ContentTemplate | null,
  policies: TurnPolicies | undefined,
): Input[] {
  const own = [
    ...(body.reference_image_url ? [["reference_image_url", body.reference_image_url]] : []),
    ...(body.images ?? []).map((url, index) => [`images.${index}`, url]),
  ].map(([field = "", url = ""]): Input => ({ field, url: new URL(url), kind: "image", policies }));
  if (own.length > 0) return own;
  return (template?.image?.reference_images ?? []).map((url) => templateInput(url, "image"));
}

/**
 * Returns a request as its run shows it: URLs lose their queries and fragments, which may be
 * signatures that grant access to files.
 */
export function showRequest(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
    if (Array.isArray(value)) return [name, value.map(String).map(showUrl)];
    return [name, name.endsWith("_url") ? showUrl(String(value)) : value];
  });
  return Object.fromEntries(entries);
}

function showUrl(text: string): string {
  const url = new URL(text);
  url.search = "";
  url.hash = "";
  return url.href;
}
