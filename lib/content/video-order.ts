/** The order of a video request: planned before a run starts, and fetched within the run. */
import { basename } from "node:path";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { chooseMotion, seedOf } from "./choose-motion.ts";
import type { VideoRequest } from "./contract.ts";
import { checkInputs, type FetchedInput, fetchInputs, type Input } from "./media/fetch-inputs.ts";
import { aspectRatioOf, chooseCaption, type PlannedStep, planEdit } from "./plan-edit.ts";
import type { EditStep, Ordered, VideoOrder } from "./port.ts";
import { showUrl } from "./show-request.ts";
import { selectContentTemplate } from "./store.ts";
import { audioInputs, excuseCaller, withAudio } from "./template-files.ts";
import { INPUTS_OF, type InputField, missingInput, modeOf } from "./video-mode.ts";

/** The longest input that the hosted models accept. */
const MAX_SECONDS = { video_url: 8, audio_url: 60 } as const;
/** The length that a container states is not exact to the frame. */
const TOLERANCE_SECONDS = 0.1;

const KIND_OF = {
  image_url: "image",
  end_image_url: "image",
  video_url: "video",
  audio_url: "audio",
} as const satisfies Readonly<Record<InputField, Input["kind"]>>;

export interface VideoPlan {
  /** The order without its files. */
  readonly order: VideoOrder;
  readonly inputs: readonly Input[];
  readonly steps: readonly PlannedStep[];
  readonly captionText: string | undefined;
  readonly template: string | undefined;
}

/** The fields of the run's output besides the URL of the video. */
export interface VideoDetails {
  readonly imageUrl?: string;
  readonly captionText?: string;
  readonly template?: string;
  readonly lipsync: boolean;
  readonly audio?: {
    readonly songFilename: string;
    readonly startSeconds: number;
    readonly durationSeconds: number;
  };
}

/**
 * Plans the same for every attempt at a request. Errors: 400 for an input that the mode requires or
 * cannot use, and when mode `prompt` has neither a prompt nor a template with motion; 404.
 */
export async function planVideo(
  body: VideoRequest,
  effectId: string,
): Promise<VideoPlan | AppError> {
  const mode = modeOf(body);
  const missing = missingInput(mode, body);
  if (missing) return missing;
  const inputs = INPUTS_OF[mode].flatMap((field): Input[] => {
    const text = body[field];
    return text ? [{ field, url: new URL(text), kind: KIND_OF[field] }] : [];
  });
  const refused = checkInputs(inputs);
  if (refused) return refused;
  const template = body.template ? await selectContentTemplate(body.template) : null;
  if (isAppError(template)) return template;
  // A prompt of the caller replaces the movement and the mood of the template.
  const motion = template && !body.prompt ? chooseMotion(template, effectId) : {};
  if (mode === "prompt" && !body.prompt && !motion.movement && !motion.mood) {
    return invalid("prompt", "prompt is required for mode prompt");
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

/** Fetches the files of the order. Errors: 400 for one that cannot be used; 429; 503. */
export async function fetchVideoOrder(
  accountId: string,
  plan: VideoPlan,
  folder: string,
  signal: AbortSignal,
): Promise<{ order: Ordered<VideoOrder>; details: VideoDetails } | AppError> {
  const { inputs, captionText, template } = plan;
  const files = await fetchInputs(accountId, inputs, folder, signal);
  if (isAppError(files)) return files;
  const fileOf = (field: InputField) => files[inputs.findIndex((one) => one.field === field)];
  const [image, audio, video] = [fileOf("image_url"), fileOf("audio_url"), fileOf("video_url")];
  for (const field of ["video_url", "audio_url"] as const) {
    if (lengthOf(fileOf(field)) <= MAX_SECONDS[field] + TOLERANCE_SECONDS) continue;
    return invalid(field, `${field} must be at most ${MAX_SECONDS[field]} seconds`);
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
    ...(audio ? { audio: describeAudio(audio) } : {}),
  };
  return { order, details };
}

/** Fetches the files that the template's edit needs. Errors: 429; 502; 503. */
export async function fetchEdit(
  accountId: string,
  { steps }: VideoPlan,
  folder: string,
  signal: AbortSignal,
): Promise<readonly EditStep[] | AppError> {
  const inputs = audioInputs(steps);
  const files = checkInputs(inputs) ?? (await fetchInputs(accountId, inputs, folder, signal));
  if (isAppError(files)) return excuseCaller(files, "Video generation failed");
  return withAudio(steps, files);
}

const lengthOf = (file: FetchedInput | undefined): number => file?.seconds ?? 0;

const describeAudio = (audio: FetchedInput) => ({
  songFilename: basename(new URL(audio.url).pathname),
  startSeconds: 0,
  durationSeconds: lengthOf(audio),
});

const invalid = (field: string, message: string): AppError =>
  appError("invalid_request", message, { fields: [field] });
