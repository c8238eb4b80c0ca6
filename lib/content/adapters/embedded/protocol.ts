/**
 * What the server and the rendering child say to each other over the child's IPC channel: one
 * request, one reply, and the child is done. The child imports only the types.
 */
import { z } from "zod";
import type { ImageOrder, VideoOrder } from "../../port.ts";

export type RenderRequest =
  /** To be written to the path. */
  | { readonly op: "video"; readonly order: VideoOrder; readonly path: string }
  /** One path for each image that was ordered. */
  | { readonly op: "images"; readonly order: ImageOrder; readonly paths: readonly string[] }
  | { readonly op: "probe"; readonly path: string };

const size = z.int().positive().optional();

export const renderReply = z.discriminatedUnion("op", [
  z.object({ op: z.literal("ready") }),
  z.object({ op: z.literal("video") }),
  z.object({ op: z.literal("images") }),
  z.object({
    op: z.literal("probe"),
    media: z.object({
      kind: z.enum(["image", "video", "audio"]),
      seconds: z.number().nonnegative().optional(),
      width: size,
      height: size,
      hasAudio: z.boolean().optional(),
    }),
  }),
  /** A caller's file cannot be used; the sentence is for the caller. */
  z.object({ op: z.literal("unusable"), message: z.string() }),
  /** For the log. */
  z.object({ op: z.literal("failed"), reason: z.string() }),
]);

export type RenderReply = z.output<typeof renderReply>;
