import type { AspectRatio, ImageAspectRatio, Resolution, VideoMode } from "@platform/media/port";
import type { z } from "zod";
import type { createImageContract, createVideoContract } from "@/lib/content/contract.ts";
import { INPUTS_OF } from "@/lib/content/video-mode.ts";
import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import { isImageRun } from "./content-result.ts";

type VideoBody = z.input<(typeof createVideoContract)["body"]>;
type ImageBody = z.input<(typeof createImageContract)["body"]>;

/** An empty text means that nothing is chosen. */
const common = {
  template: "",
  prompt: "",
  aspect_ratio: "auto" as AspectRatio,
  resolution: "720p" as Resolution,
  model: "",
};

export const emptyVideo = {
  ...common,
  mode: "animate" as VideoMode,
  image_url: "",
  end_image_url: "",
  video_url: "",
  audio_url: "",
  negative_prompt: "",
  duration: "" as "" | NonNullable<VideoBody["duration"]>,
  generate_audio: false,
};
export type VideoValues = typeof emptyVideo;

/** `images` are the URLs of references, the most important first. */
export const emptyImage = {
  ...common,
  aspect_ratio: "auto" as ImageAspectRatio,
  images: [] as readonly string[],
  num_images: 1,
};
export type ImageValues = typeof emptyImage;

/** Returns the request, with only the inputs that the mode uses. */
export function videoBody(values: VideoValues): VideoBody {
  const { image_url, end_image_url, video_url, audio_url, ...settings } = values;
  const { generate_audio, duration, ...rest } = settings;
  const inputs = INPUTS_OF[values.mode].map((field) => [field, values[field].trim()]);
  // A lip sync takes its length and its sound from the audio.
  const common = values.mode === "lipsync" ? rest : settings;
  return chosenOf({ ...common, ...Object.fromEntries(inputs) }) as VideoBody;
}

export const imageBody = (values: ImageValues): ImageBody =>
  chosenOf({ ...values, images: values.images.map((url) => url.trim()).filter(Boolean) });

/** Returns the values without empty texts and lists. */
const chosenOf = <T extends object>(values: T): T =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => String(value).trim() !== ""),
  ) as T;

/** Whether a mode can start from its prompt alone, from which its first frame is generated. */
export const isFrameOptional = (mode: VideoMode): boolean =>
  mode === "prompt" || mode === "animate";

export const lacksFirstFrame = ({ mode, image_url, prompt, template }: VideoValues): boolean =>
  isFrameOptional(mode) && image_url.trim() === "" && `${prompt}${template}`.trim() !== "";

/** Returns the request for the image that a video starts from. */
export const firstFrameBody = ({ template, prompt, aspect_ratio, resolution }: VideoValues) =>
  imageBody({ ...emptyImage, template, prompt, aspect_ratio, resolution });

/** Returns form values with the settings of a run. Signed URLs in it have lost their signature. */
export function valuesOf(
  run: TaskRun,
): { readonly video: VideoValues } | { readonly image: ImageValues } {
  const payload = Object(run.payload);
  if (!isImageRun(run)) return { video: { ...emptyVideo, ...sameTypes(emptyVideo, payload) } };
  const { images = [], ...rest } = sameTypes(emptyImage, payload);
  const { reference_image_url: reference } = payload;
  const references = typeof reference === "string" ? [reference, ...images] : images;
  return { image: { ...emptyImage, ...rest, images: references } };
}

function sameTypes<T extends object>(form: T, payload: object): Partial<T> {
  const types = new Map(Object.entries(form).map(([name, value]) => [name, typeof value]));
  const same = Object.entries(payload).filter(([name, value]) => types.get(name) === typeof value);
  return Object.fromEntries(same) as Partial<T>;
}
