/** What a file holds, by its content; its name and what a server said of it do not count. */
import { open } from "node:fs/promises";
import type { RenderReply } from "../protocol.ts";
import { checkEnds, openMedia } from "./open-media.ts";
import { looksLikeImage, readImage } from "./read-image.ts";
import { UnusableInput } from "./unusable-input.ts";

/** @throws UnusableInput */
export async function probe(path: string): Promise<RenderReply> {
  const unusable = new UnusableInput("The file is not an image, a video or audio that can be read");
  if (looksLikeImage(await readHead(path))) {
    const { width, height } = await readImage(path, "The file");
    return { op: "probe", media: { kind: "image", width, height } };
  }
  const { seconds, video, audio, close } = await openMedia(path, "The file");
  if (!video) {
    close();
    return { op: "probe", media: { kind: "audio", seconds, hasAudio: true } };
  }
  await checkEnds(video, unusable);
  const [width, height] = [await video.getDisplayWidth(), await video.getDisplayHeight()];
  close();
  return {
    op: "probe",
    media: { kind: "video", seconds, width, height, hasAudio: audio !== null },
  };
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
