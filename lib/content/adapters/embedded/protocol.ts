/**
 * The messages between the server and the rendering child over the child's IPC channel: `ready` from
 * the child, then one request and one reply. The child imports only the types.
 */
import { z } from "zod";
import type { EditStep, ImageOrder, VideoOrder } from "../../port.ts";

export type RenderRequest =
  /** Writes the video to the path. */
  | { readonly op: "video"; readonly order: VideoOrder; readonly path: string }
  /** Writes each image to its own path. */
  | { readonly op: "images"; readonly order: ImageOrder; readonly paths: readonly string[] }
  /** Applies the steps to the input video and writes the result to the path. */
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
  /** A caller's file cannot be used. The message is for the caller, the reason for the log. */
  z.object({ op: z.literal("unusable"), message: z.string(), reason: z.string() }),
  /** The job failed for a cause of our own; the reason is for the log. */
  z.object({ op: z.literal("failed"), reason: z.string() }),
]);

export type RenderReply = z.output<typeof renderReply>;
