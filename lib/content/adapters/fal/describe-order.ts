/**
 * An order in the words of the model that makes it: which one for each mode, and the names and
 * values of its inputs. Where a model has fewer lengths or sizes than the API, the nearest that it
 * has above is taken, or its only one.
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

/** What is said to a model that must be told something when the caller said nothing. */
const withoutWords: Readonly<Record<VideoMode, string>> = {
  prompt: "Bring the image to life with natural, cinematic motion.",
  animate: "Bring the image to life with natural, cinematic motion.",
  reference: "A cinematic scene with the subject and in the style of the reference image.",
  extend: "Continue the scene naturally, with the same style and motion.",
  "first-last": "A smooth, natural transition from the first image to the last.",
  lipsync: "",
};

/**
 * @param urls of the inputs that the order has, by their names in it
 * @param aspectRatio for `reference` never `auto`, which its model does not know
 */
export function describeVideo(
  order: VideoOrder,
  urls: Readonly<Partial<Record<"image" | "endImage" | "video" | "audio", string>>>,
  aspectRatio: AspectRatio,
): ModelRequest {
  const { mode, resolution, negativePrompt, seed } = order;
  const model = order.model ?? videoModels[mode];
  const prompt = wordsOf(order) || withoutWords[mode];
  const negative = negativePrompt ? { negative_prompt: negativePrompt } : {};
  const common = {
    prompt,
    generate_audio: order.generateAudio,
    aspect_ratio: aspectRatio,
    resolution,
  };
  switch (mode) {
    case "prompt":
    case "animate":
      return {
        model,
        input: { ...common, ...negative, image_url: urls.image, duration: lengthOf(order), seed },
      };
    case "first-last":
      return {
        model,
        input: {
          ...{ ...common, ...negative, duration: lengthOf(order), seed },
          ...{ first_frame_url: urls.image, last_frame_url: urls.endImage },
        },
      };
    case "reference":
      return {
        model,
        input: {
          ...common,
          prompt: negativePrompt ? `${prompt}\nAvoid: ${negativePrompt}` : prompt,
          // It has one length.
          duration: "8s",
          image_urls: [urls.image],
        },
      };
    case "extend":
      // One length and one size, whatever is asked for.
      return {
        model,
        input: {
          ...common,
          ...negative,
          video_url: urls.video,
          duration: "7s",
          resolution: "720p",
          seed,
        },
      };
    case "lipsync":
      return {
        model,
        input: {
          ...{ image_url: urls.image, audio_url: urls.audio },
          resolution: resolution === "720p" ? "720p" : "1080p",
          ...(prompt ? { prompt } : {}),
        },
      };
  }
}

export function describeImages(
  order: ImageOrder,
  references: readonly string[],
  count: number,
  seed: number,
): ModelRequest {
  const isEdit = references.length > 0;
  return {
    model: order.model ?? (isEdit ? IMAGE_MODEL_WITH_REFERENCES : IMAGE_MODEL),
    input: {
      prompt:
        [order.prompt, styleOf(order.styleRules)].filter(Boolean).join("\n") || "An album cover.",
      num_images: count,
      aspect_ratio: order.aspectRatio,
      resolution: imageSizes[order.resolution],
      output_format: "png",
      seed,
      ...(isEdit ? { image_urls: references } : {}),
    },
  };
}

const lengthOf = ({ seconds }: VideoOrder) => (seconds <= 4 ? "4s" : seconds <= 6 ? "6s" : "8s");

function wordsOf({ prompt, movement, mood, styleRules }: VideoOrder): string {
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
