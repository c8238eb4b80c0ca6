/** What a file holds, by its content; its name and what a server said of it do not count. */
import { sniffFile } from "../../../media/sniff-file.ts";
import type { RenderReply } from "../protocol.ts";
import { readImage } from "./read-image.ts";
import { UnusableInput } from "./unusable-input.ts";

/** @throws UnusableInput */
export async function probe(path: string): Promise<RenderReply> {
  const unusable = new UnusableInput("The file is not an image, a video or audio that can be read");
  if ((await sniffFile(path))?.startsWith("image/")) {
    const { width, height } = await readImage(path, "The file");
    return { op: "probe", media: { kind: "image", width, height } };
  }
  const { checkEnds, openMedia } = await import("./open-media.ts");
  const { seconds, video, audio, close } = await openMedia(path, "The file");
  if (!video) {
    close();
    return { op: "probe", media: { kind: "audio", seconds, hasAudio: true } };
  }
  await checkEnds(video, unusable);
  // The pictures' own length: a sound track beside them often ends a little later.
  const length = (await video.computeDuration()) - (await video.getFirstTimestamp());
  const [width, height] = [await video.getDisplayWidth(), await video.getDisplayHeight()];
  close();
  return {
    op: "probe",
    media: { kind: "video", seconds: length, width, height, hasAudio: audio !== null },
  };
}
