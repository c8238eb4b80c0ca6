/**
 * Opens untrusted images. Only raster formats are accepted, by their first bytes, because a vector
 * graphic could refer to other files. The number of pixels is bounded, because decoding needs memory.
 */
import { readFile } from "node:fs/promises";
import sharp, { type Sharp } from "sharp";
import { sniffFile } from "../../../media/sniff-file.ts";
import { type Frame, frameFromRgb, type Size } from "./frame.ts";
import { UnusableInput } from "./unusable-input.ts";

const MAX_IMAGE_PIXELS = 50_000_000;

/** The size applies to the upright image. */
export interface Image extends Size {
  /** Starts a new pipeline over the whole image: upright, opaque, sRGB. */
  open(): Sharp;
}

/**
 * @param field the parameter that the error message names
 * @throws UnusableInput when the file is not a complete image of a supported format
 */
export async function readImage(path: string, field: string): Promise<Image> {
  const message = `${field} cannot be read as an image`;
  if (!(await sniffFile(path))?.startsWith("image/")) throw new UnusableInput(message);
  const bytes = await readFile(path);
  const settings = { limitInputPixels: MAX_IMAGE_PIXELS, failOn: "truncated" } as const;
  const open = () =>
    sharp(bytes, settings)
      .autoOrient()
      .flatten({ background: "#101014" })
      .toColourspace("srgb")
      .removeAlpha();
  try {
    const { autoOrient } = await sharp(bytes, settings).metadata();
    // Reads every pixel to detect a broken image here rather than while rendering.
    await open().resize(16, 16).raw().toBuffer();
    return { width: autoOrient.width, height: autoOrient.height, open };
  } catch (error) {
    throw new UnusableInput(message, error);
  }
}

/** Returns the image, cropped to the aspect ratio of the size and scaled to it. */
export async function coverFrame(image: Image, size: Size): Promise<Frame> {
  const rgb = await image
    .open()
    .resize(size.width, size.height, { fit: "cover" })
    .raw({ depth: "uchar" })
    .toBuffer();
  return frameFromRgb(rgb, size);
}
