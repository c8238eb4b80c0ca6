/** The mode of a video request, and the inputs that each mode requires. */
import { type AppError, invalidField } from "@platform/endpoint/contract/app-error";
import type { VideoMode } from "@platform/media/port";
import type { VideoRequest } from "./contract.ts";

/** The inputs of each mode; other media that a request names are ignored. */
export const INPUTS_OF = {
  prompt: ["image_url"],
  animate: ["image_url"],
  reference: ["image_url"],
  extend: ["video_url"],
  "first-last": ["image_url", "end_image_url"],
  lipsync: ["image_url", "audio_url"],
} as const satisfies Readonly<Record<VideoMode, readonly (keyof VideoRequest)[]>>;

export type InputField = (typeof INPUTS_OF)[VideoMode][number];

export function modeOf(request: VideoRequest): VideoMode {
  if (request.mode) return request.mode;
  if (request.audio_url && request.image_url) return "lipsync";
  if (request.video_url) return "extend";
  if (request.image_url && request.end_image_url) return "first-last";
  return request.image_url ? "animate" : "prompt";
}

/** Errors: 400 for the first input that the mode requires and the request lacks. */
export function missingInput(mode: VideoMode, request: VideoRequest): AppError | null {
  const field = INPUTS_OF[mode].find((one) => !request[one]);
  if (!field) return null;
  const message =
    mode === "prompt"
      ? "image_url is required: make one first with POST /api/content/image"
      : `${field} is required for mode ${mode}`;
  return invalidField(field, message);
}
