/**
 * A caller's image, opened with distrust: by its first bytes only formats of pixels, so that no
 * vector graphic with references to other files reaches a parser; and none with so many pixels that
 * decoding it would take the machine's memory.
 */
import { readFile } from "node:fs/promises";
import sharp, { type Sharp } from "sharp";
import { sniffFile } from "../../../media/sniff-file.ts";
import { type Frame, frameFromRgb } from "./frame.ts";
import { UnusableInput } from "./unusable-input.ts";

export const MAX_IMAGE_PIXELS = 50_000_000;

export interface Image {
  /** As it is to be seen, turned as its metadata says. */
  readonly width: number;
  readonly height: number;
  /** A new pipeline over the whole image: upright, opaque, sRGB. */
  open(): Sharp;
}

/** @param field the parameter that the sentence is about */
export async function readImage(path: string, field: string): Promise<Image> {
  const unusable = new UnusableInput(`${field} cannot be read as an image`);
  if (!(await sniffFile(path))?.startsWith("image/")) throw unusable;
  const bytes = await readFile(path);
  const settings = { limitInputPixels: MAX_IMAGE_PIXELS, failOn: "truncated" } as const;
  try {
    const { autoOrient } = await sharp(bytes, settings).metadata();
    const open = () =>
      sharp(bytes, settings)
        .autoOrient()
        .flatten({ background: "#101014" })
        .toColourspace("srgb")
        .removeAlpha();
    // Reads every pixel, so that what is broken is found here and not in the middle of a video.
    await open().resize(16, 16).raw().toBuffer();
    return { width: autoOrient.width, height: autoOrient.height, open };
  } catch {
    throw unusable;
  }
}

/** The image cut to the shape and brought to the size. @param grade what is done to its colours */
export async function coverFrame(
  image: Image,
  width: number,
  height: number,
  grade: (pipeline: Sharp) => Sharp = (pipeline) => pipeline,
): Promise<Frame> {
  const pipeline = image.open().resize(width, height, { fit: "cover", position: "centre" });
  return frameFromRgb(await rawRgb(grade(pipeline)), width, height);
}

/** Three bytes a pixel, also of a grey image. */
export function rawRgb(pipeline: Sharp): Promise<Buffer> {
  return pipeline.toColourspace("srgb").removeAlpha().raw({ depth: "uchar" }).toBuffer();
}
