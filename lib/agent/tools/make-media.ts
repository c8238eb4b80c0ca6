import { z } from "zod";
import { MAX_PATH_CHARS } from "./limits.ts";
import { agentTool } from "./tool.ts";

const mediaRequest = z.strictObject({
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

export const makeMedia = agentTool({
  name: "make_media",
  description: `Generate an image or a video, which costs money, and get {path, url, width, height, format, bytes}: path is the file in the sandbox, and anyone who knows url can read it.
- Stores take a cover of 1:1 in 4k.
- placeholder: true means that no model has made it, for the reason in notice. Say so to the user, and never present it as the work.
- It can take minutes. A failed generation is not repeated unchanged.`,
  input: mediaRequest,
  execute: (request, context) => context.makeMedia(request),
});

/** Returns the request of a call; null for a malformed one, which the tool refuses. */
export const mediaRequestIn = (input: unknown): MediaRequest | null =>
  mediaRequest.safeParse(input).data ?? null;
