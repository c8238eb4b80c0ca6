/** The two jobs that write a video: an order, and an edit of a video that a hosted model generated. */
import "node-webcodecs/register";
import type { EditStep, VideoOrder } from "../../../port.ts";
import type { RenderReply } from "../protocol.ts";
import { type Clip, FRAME_RATE } from "./clip.ts";
import { editClip } from "./edit-clip.ts";
import { modes } from "./modes.ts";
import { openMedia } from "./open-media.ts";
import { readFrames, readInfo } from "./read-video.ts";
import { readSound } from "./sound.ts";
import { UnusableInput } from "./unusable-input.ts";
import { writeVideo } from "./write-video.ts";

/** Bounds the memory of a video's sound. */
const MAX_EDITED_SECONDS = 120;

/** @throws UnusableInput */
export async function renderVideo(order: VideoOrder, path: string): Promise<RenderReply> {
  await writeVideo(await modes[order.mode](order), path);
  return { op: "video" };
}

/** @throws UnusableInput */
export async function editVideo(
  input: string,
  steps: readonly EditStep[],
  path: string,
): Promise<RenderReply> {
  await writeVideo(await editClip(await openClip(input), steps), path);
  return { op: "edit" };
}

async function openClip(path: string): Promise<Clip> {
  const message = "The video cannot be read";
  const { video, audio } = await openMedia(path, "The video");
  if (!video) throw new UnusableInput(message, "no video track");
  const info = await readInfo(video, message);
  if (info.seconds > MAX_EDITED_SECONDS) throw new UnusableInput(message, "it is too long");
  const even = (length: number) => Math.max(16, length & ~1);
  const size = { width: even(info.width), height: even(info.height) };
  const length = Math.max(1, Math.round(info.seconds * FRAME_RATE));
  const sound = audio && (await readSound(audio, message, 0, info.seconds));
  return { ...size, length, sound, frames: readFrames(video, size, length, message) };
}
