/**
 * What the server and the rendering child say to each other over the child's IPC channel: one
 * request, one reply, and the child is done. The child imports only the types.
 */
import { z } from "zod";
import type { EditStep, ImageOrder, VideoOrder } from "../../port.ts";

export type RenderRequest =
  /** To be written to the path. */
  | { readonly op: "video"; readonly order: VideoOrder; readonly path: string }
  /** One path for each image that was ordered. */
  | { readonly op: "images"; readonly order: ImageOrder; readonly paths: readonly string[] }
  /** A finished video, changed and written to another path. */
  | {
      readonly op: "edit";
      readonly input: string;
      readonly steps: readonly EditStep[];
      readonly path: string;
    };

export const renderReply = z.discriminatedUnion("op", [
  z.object({ op: z.literal("ready") }),
  z.object({ op: z.literal("video") }),
  z.object({ op: z.literal("images") }),
  z.object({ op: z.literal("edit") }),
  /** A caller's file cannot be used: the message is for the caller, the reason for the log. */
  z.object({ op: z.literal("unusable"), message: z.string(), reason: z.string() }),
  /** For the log. */
  z.object({ op: z.literal("failed"), reason: z.string() }),
]);

export type RenderReply = z.output<typeof renderReply>;
