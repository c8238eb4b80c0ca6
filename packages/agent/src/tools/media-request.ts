import { z } from "zod";
import { MAX_PATH_CHARS } from "./limits.ts";

export const mediaRequest = z.strictObject({
  kind: z.enum(["image", "video"]),
  prompt: z.string().trim().min(1).max(10_000),
  aspect_ratio: z
    .enum(["16:9", "9:16", "1:1", "4:5"])
    .optional()
    .describe("1:1 and 4:5 are of images only. Default: of the image, or the model's choice"),
  duration: z
    .union([z.literal(4), z.literal(6), z.literal(8)])
    .optional()
    .describe("Seconds of a video, by default 8"),
  image: z
    .string()
    .min(1)
    .max(MAX_PATH_CHARS)
    .optional()
    .describe("Path in the sandbox or https URL: the reference of an image, the start of a video"),
  resolution: z.enum(["720p", "1080p", "4k"]).optional().describe("The shorter side; default 720p"),
});
export type MediaRequest = z.output<typeof mediaRequest>;

/** Returns the request of a call; null for a malformed one, which the tool refuses. */
export const mediaRequestIn = (input: unknown): MediaRequest | null =>
  mediaRequest.safeParse(input).data ?? null;
