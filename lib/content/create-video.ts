import { basename } from "node:path";
import { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { chooseMotion, seedOf } from "./choose-motion.ts";
import type { VideoRequest } from "./contract.ts";
import { checkInputs, type FetchedInput, fetchInputs, type Input } from "./media/fetch-inputs.ts";
import { aspectRatioOf, chooseCaption, type PlannedStep, planEdit } from "./plan-edit.ts";
import type { VideoMode, VideoOrder } from "./port.ts";
import { type Attempt, runGeneration } from "./run-generation.ts";
import { showRequest, showUrl } from "./show-request.ts";
import { selectContentTemplate } from "./store.ts";
import { storeResults } from "./store-results.ts";
import { audioInputs, excuseCaller, withAudio } from "./template-files.ts";
import { INPUTS_OF, type InputField, missingInput, modeOf } from "./video-mode.ts";

/** The longest input that the hosted models accept. */
const MAX_SECONDS = { video_url: 8, audio_url: 60 } as const;
/** The length that a container states is not exact to the frame. */
const TOLERANCE_SECONDS = 0.1;

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
 * for media; 404 `Template not found`; 409; 502 `Video generation failed`; 504. @throws
 * DatabaseUnavailable
 */
export async function createVideo(
  attempt: Attempt,
  body: VideoRequest,
): Promise<{ videoUrl: string; mode: VideoMode; location: string } | AppError> {
  const mode = modeOf(body);
  const missing = missingInput(mode, body);
  if (missing) return missing;
  const inputs = inputsOf(mode, body);
  const refused = checkInputs(inputs);
  if (refused) return refused;
  const plan = await planOf(mode, body, attempt.effectId);
  if (isAppError(plan)) return plan;

  const { captionText, steps, order: planned } = plan;
  const { movement, mood } = planned;
  const editInputs = audioInputs(steps);
  const payload = showRequest({ ...body, mode });
  const metadata = { mode, movement, mood };
  const done = await runGeneration(
    { ...attempt, kind: "video", payload, metadata },
    output,
    async ({ runId, folder, signal, progress }) => {
      await progress("fetching");
      const all = [...inputs, ...editInputs];
      const files =
        checkInputs(editInputs) ?? (await fetchInputs(attempt.accountId, all, folder, signal));
      if (isAppError(files)) return excuseCaller(files, "Video generation failed");
      const fileOf = (field: InputField) => files[inputs.findIndex((one) => one.field === field)];
      const [image, audio, video] = [fileOf("image_url"), fileOf("audio_url"), fileOf("video_url")];
      for (const field of ["video_url", "audio_url"] as const) {
        if (lengthOf(fileOf(field)) <= MAX_SECONDS[field] + TOLERANCE_SECONDS) continue;
        return invalid(field, `${field} must be at most ${MAX_SECONDS[field]} seconds`);
      }
      await progress("generating");
      const { accountId } = attempt;
      const endImage = fileOf("end_image_url");
      const edit = withAudio(steps, files.slice(inputs.length));
      const order = { ...planned, accountId, image, audio, video, endImage, edit };
      const file = await services().content.video(order, folder, signal);
      if (isAppError(file)) return file;
      await progress("storing");
      const stored = await storeResults(attempt.accountId, runId, [file]);
      if (isAppError(stored)) return stored;
      return {
        videoSourceUrl: z.string().parse(stored[0]),
        ...(image ? { imageUrl: showUrl(image.url) } : {}),
        ...(captionText ? { captionText } : {}),
        ...(body.template ? { template: body.template } : {}),
        lipsync: mode === "lipsync",
        ...(audio ? { audio: describeAudio(audio) } : {}),
      };
    },
  );
  if (isAppError(done)) return done;
  return { videoUrl: done.output.videoSourceUrl, mode, location: done.location };
}

const KIND_OF = {
  image_url: "image",
  end_image_url: "image",
  video_url: "video",
  audio_url: "audio",
} as const satisfies Readonly<Record<InputField, Input["kind"]>>;

function inputsOf(mode: VideoMode, body: VideoRequest): Input[] {
  return INPUTS_OF[mode].flatMap((field) => {
    const text = body[field];
    return text ? [{ field, url: new URL(text), kind: KIND_OF[field] }] : [];
  });
}

interface Plan {
  /** The order without its files. */
  readonly order: VideoOrder;
  readonly steps: readonly PlannedStep[];
  readonly captionText: string | undefined;
}

/** Errors: 400 when mode `prompt` has neither a prompt nor a template with motion; 404. */
async function planOf(
  mode: VideoMode,
  body: VideoRequest,
  effectId: string,
): Promise<Plan | AppError> {
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
  return { order, steps, captionText };
}

const lengthOf = (file: FetchedInput | undefined): number => file?.seconds ?? 0;

const describeAudio = (audio: FetchedInput) => ({
  songFilename: basename(new URL(audio.url).pathname),
  startSeconds: 0,
  durationSeconds: lengthOf(audio),
});

const invalid = (field: string, message: string): AppError =>
  appError("invalid_request", message, { fields: [field] });
