/** Opens a caller's video or audio with distrust: what cannot be decoded is unusable, and no crash. */
import { FilePathSource, Input, type InputAudioTrack, type InputVideoTrack } from "mediabunny";
import { CONTAINER_FORMATS } from "../../../media/container-formats.ts";
import { UnusableInput } from "./unusable-input.ts";

/** 4096 by 2304: bounds what one decoded picture takes. */
const MAX_VIDEO_PIXELS = 4096 * 2304;

export interface Media {
  readonly video: InputVideoTrack | null;
  readonly audio: InputAudioTrack | null;
}

/**
 * @param field The parameter that sentences name.
 * @throws UnusableInput when there is neither video nor audio that can be decoded here.
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
 * Runs work that does nothing but parse or decode a caller's file, so that its errors are the file's.
 * Rendering and writing never happen inside it, and what the system says of a file (that it is not
 * there, or may not be read) passes through: those errors are ours.
 */
export async function readMedia<T>(message: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isOfSystem = error instanceof Error && "code" in error && typeof error.code === "string";
    if (error instanceof UnusableInput || isOfSystem) throw error;
    throw new UnusableInput(message, error);
  }
}
