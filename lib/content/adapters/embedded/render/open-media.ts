/** Opens untrusted video and audio files: a file that cannot be decoded is unusable, not a failure. */
import { FilePathSource, Input, type InputAudioTrack, type InputVideoTrack } from "mediabunny";
import { CONTAINER_FORMATS } from "../../../media/container-formats.ts";
import { UnusableInput } from "./unusable-input.ts";

/** Bounds the memory of one decoded picture. */
const MAX_VIDEO_PIXELS = 4096 * 2304;

export interface Media {
  readonly video: InputVideoTrack | null;
  readonly audio: InputAudioTrack | null;
}

/**
 * @param field the parameter that error messages name
 * @throws UnusableInput when the file has neither video nor audio that can be decoded here
 */
export async function openMedia(path: string, field: string): Promise<Media> {
  const message = `${field} cannot be read as a video or as audio`;
  return readMedia(message, async () => {
    const input = new Input({ source: new FilePathSource(path), formats: CONTAINER_FORMATS });
    const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
    if (video) {
      const pixels = (await video.getCodedWidth()) * (await video.getCodedHeight());
      if (pixels > MAX_VIDEO_PIXELS) {
        throw new UnusableInput(`${field} must be at most 4096 by 2304 pixels`);
      }
      if (!(await video.canDecode())) throw new UnusableInput(message, await video.getCodec());
    }
    const heard = audio && (await audio.canDecode()) ? audio : null;
    if (!video && !heard) throw new UnusableInput(message, "no track that can be decoded");
    return { video, audio: heard };
  });
}

/**
 * Runs work that only parses or decodes a caller's file, and attributes its errors to the file. System
 * errors, such as a missing file, pass through, because they are failures of ours; so rendering and
 * writing must not happen inside.
 */
export async function readMedia<T>(message: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isSystemError =
      error instanceof Error && "code" in error && typeof error.code === "string";
    if (error instanceof UnusableInput || isSystemError) throw error;
    throw new UnusableInput(message, error);
  }
}
