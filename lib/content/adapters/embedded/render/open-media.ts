/** A caller's video or sound, opened with distrust: what cannot be decoded is unusable, not a crash. */
import "node-webcodecs/register";
import {
  ALL_FORMATS,
  FilePathSource,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
  VideoSampleSink,
} from "mediabunny";
import { UnusableInput } from "./unusable-input.ts";

/** 4096 by 2304: more than 4k, and what one decoded picture may take. */
const MAX_VIDEO_PIXELS = 4096 * 2304;

export interface Media {
  /** Of the whole file, in seconds. */
  readonly seconds: number;
  readonly video: InputVideoTrack | null;
  readonly audio: InputAudioTrack | null;
  close(): void;
}

/** @throws UnusableInput when it is neither video nor sound, or of a codec that is not decoded here */
export async function openMedia(path: string, field: string): Promise<Media> {
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  const unusable = new UnusableInput(`${field} cannot be read as a video or as audio`);
  return orUnusable(unusable, async () => {
    const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
    if (!video && !audio) throw unusable;
    if (video && !(await video.canDecode())) throw unusable;
    if (
      video &&
      (await video.getCodedWidth()) * (await video.getCodedHeight()) > MAX_VIDEO_PIXELS
    ) {
      throw new UnusableInput(`${field} must be at most 4096 by 2304 pixels`);
    }
    const heard = audio && (await audio.canDecode()) ? audio : null;
    if (!video && !heard) throw unusable;
    const seconds = await input.computeDuration();
    if (!Number.isFinite(seconds) || seconds <= 0) throw unusable;
    return { seconds, video, audio: heard, close: () => input.dispose() };
  });
}

/** Whatever goes wrong while a caller's file is read is the file's fault. */
export async function orUnusable<T>(unusable: UnusableInput, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof UnusableInput ? error : unusable;
  }
}

/** That the beginning and the end can be decoded: a file that was cut short has no end. */
export async function checkEnds(track: InputVideoTrack, unusable: UnusableInput): Promise<void> {
  await orUnusable(unusable, async () => {
    const sink = new VideoSampleSink(track);
    for (const moment of [await track.getFirstTimestamp(), await track.computeDuration()]) {
      const sample = await sink.getSample(moment);
      if (!sample) throw unusable;
      sample.close();
    }
  });
}
