/**
 * Translates an order into the request of a hosted model: the model of each mode, and the names and
 * values of its inputs. Where a model supports fewer lengths or sizes than the API, the next larger
 * one is used, or the only one.
 */
import type {
  AspectRatio,
  ImageOrder,
  Resolution,
  StyleRules,
  VideoMode,
  VideoOrder,
} from "../../port.ts";

export interface ModelRequest {
  readonly model: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const videoModels: Readonly<Record<VideoMode, string>> = {
  prompt: "fal-ai/veo3.1/image-to-video",
  animate: "fal-ai/veo3.1/image-to-video",
  reference: "fal-ai/veo3.1/reference-to-video",
  extend: "fal-ai/veo3.1/extend-video",
  "first-last": "fal-ai/veo3.1/first-last-frame-to-video",
  lipsync: "fal-ai/bytedance/omnihuman/v1.5",
};

const IMAGE_MODEL = "fal-ai/nano-banana-2";
const IMAGE_MODEL_WITH_REFERENCES = "fal-ai/nano-banana-2/edit";
const imageSizes: Readonly<Record<Resolution, string>> = {
  "720p": "1K",
  "1080p": "2K",
  "4k": "4K",
};

/** Prompts for models that require one, used when the caller and the template give none. */
const defaultPrompts: Readonly<Record<VideoMode, string>> = {
  prompt: "Bring the image to life with natural, cinematic motion.",
  animate: "Bring the image to life with natural, cinematic motion.",
  reference: "A cinematic scene with the subject and in the style of the reference image.",
  extend: "Continue the scene naturally, with the same style and motion.",
  "first-last": "A smooth, natural transition from the first image to the last.",
  lipsync: "",
};

export const videoModel = ({ mode, model }: Pick<VideoOrder, "mode" | "model">): string =>
  model ?? videoModels[mode];

export const imageModel = ({ model }: Pick<ImageOrder, "model">, references: number): string =>
  model ?? (references > 0 ? IMAGE_MODEL_WITH_REFERENCES : IMAGE_MODEL);

/**
 * @param urls of the order's inputs, by their names in the order
 * @param aspectRatio must not be `auto` for `reference`, whose model does not support it
 */
export function describeVideo(
  order: VideoOrder,
  urls: Readonly<Record<"image" | "endImage" | "video" | "audio", string | undefined>>,
  aspectRatio: AspectRatio,
): ModelRequest {
  const { mode, resolution, negativePrompt, seed } = order;
  const model = videoModel(order);
  const prompt = promptOf(order) || defaultPrompts[mode];
  const negative = negativePrompt ? { negative_prompt: negativePrompt } : {};
  const common = {
    prompt,
    generate_audio: order.generateAudio,
    aspect_ratio: aspectRatio,
    resolution,
  };
  const duration = durationOf(order);
  return { model, input: inputOf() };

  function inputOf(): ModelRequest["input"] {
    switch (mode) {
      case "prompt":
      case "animate":
        return { ...common, ...negative, image_url: urls.image, duration, seed };
      case "first-last": {
        const ends = { first_frame_url: urls.image, last_frame_url: urls.endImage };
        return { ...common, ...negative, ...ends, duration, seed };
      }
      case "reference": {
        const wanted = negativePrompt ? `${prompt}\nAvoid: ${negativePrompt}` : prompt;
        // The only length that the model supports.
        return { ...common, prompt: wanted, duration: "8s", image_urls: [urls.image] };
      }
      case "extend": {
        // The only length and size that the model supports.
        const fixed = { duration: "7s", resolution: "720p" };
        return { ...common, ...negative, ...fixed, video_url: urls.video, seed };
      }
      case "lipsync":
        return {
          ...{ image_url: urls.image, audio_url: urls.audio },
          resolution: resolution === "720p" ? "720p" : "1080p",
          ...(prompt ? { prompt } : {}),
        };
    }
  }
}

export function describeImages(order: ImageOrder, references: readonly string[]): ModelRequest {
  const isEdit = references.length > 0;
  return {
    model: imageModel(order, references.length),
    input: {
      prompt:
        [order.prompt, styleOf(order.styleRules)].filter(Boolean).join("\n") || "An album cover.",
      num_images: order.count,
      aspect_ratio: order.aspectRatio,
      resolution: imageSizes[order.resolution],
      output_format: "png",
      seed: order.seed,
      ...(isEdit ? { image_urls: references } : {}),
    },
  };
}

const durationOf = ({ seconds }: VideoOrder) => (seconds <= 4 ? "4s" : seconds <= 6 ? "6s" : "8s");

function promptOf({ prompt, movement, mood, styleRules }: VideoOrder): string {
  const parts = [
    prompt,
    movement && `Camera and motion: ${movement}.`,
    mood && `Mood: ${mood}.`,
    styleOf(styleRules),
  ];
  return parts.filter(Boolean).join("\n");
}

const styleOf = (rules: StyleRules | undefined): string =>
  rules && Object.keys(rules).length > 0 ? `Style: ${JSON.stringify(rules)}` : "";
