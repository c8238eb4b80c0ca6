/** The thread of `probe-media.ts`: reads one file and posts what it holds. Plain TypeScript under Node. */
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
  // EXIF: from 5 on the image lies on its side.
  const [across, down] = orientation >= 5 ? [height, width] : [width, height];
  return { kind: "image", width: across, height: down };
}

async function probeContainer(path: string): Promise<ProbedMedia | null> {
  const input = new Input({ source: new FilePathSource(path), formats: CONTAINER_FORMATS });
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  const track = video ?? audio;
  if (!track) return null;
  const seconds = (await track.computeDuration()) - (await track.getFirstTimestamp());
  return { kind: video ? "video" : "audio", seconds, hasAudio: audio !== null };
}

parentPort?.postMessage(await probe(String(workerData.path)).catch(() => null));
