/** The worker thread of `probe-media.ts`: probes one file and posts the result. */
import { parentPort, workerData } from "node:worker_threads";
import { imageSizeFromFile } from "image-size/fromFile";
import { FilePathSource, Input } from "mediabunny";
import { CONTAINER_FORMATS } from "./container-formats.ts";
import type { ProbedMedia } from "./probe-media.ts";
import { sniffFile } from "./sniff-file.ts";

async function probe(path: string): Promise<ProbedMedia | null> {
  const type = await sniffFile(path);
  if (type === null) return null;
  return type.startsWith("image/") ? probeImage(path) : probeContainer(path);
}

async function probeImage(path: string): Promise<ProbedMedia> {
  const { width, height, orientation = 1 } = await imageSizeFromFile(path);
  // EXIF orientations from 5 to 8 swap the sides.
  return orientation >= 5
    ? { kind: "image", width: height, height: width }
    : { kind: "image", width, height };
}

async function probeContainer(path: string): Promise<ProbedMedia | null> {
  const input = new Input({ source: new FilePathSource(path), formats: CONTAINER_FORMATS });
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  const track = video ?? audio;
  if (!track) return null;
  const seconds = (await track.computeDuration()) - (await track.getFirstTimestamp());
  const common = { seconds, hasAudio: audio !== null };
  if (!video) return { kind: "audio", ...common };
  const [width, height] = [await video.getDisplayWidth(), await video.getDisplayHeight()];
  return { kind: "video", ...common, width, height };
}

parentPort?.postMessage(await probe(String(workerData.path)).catch(() => null));
