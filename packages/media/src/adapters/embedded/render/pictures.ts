/** Untrusted images and texts as pictures, through libvips (sharp). */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import sharp, { type OverlayOptions, type Sharp } from "sharp";
import type { ImageAspectRatio, ImageOrder, Resolution } from "../../../port.ts";
import { sniffFile } from "../../../sniff-file.ts";

/** Thrown when a caller's file cannot be used. All other errors in the child are failures of ours. */
export class UnusableInput extends Error {
  /**
   * @param message a sentence that callers can see
   * @param cause the error of the decoder or the parser, for the operator's log only
   */
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Bounds the memory of decoding. */
const MAX_IMAGE_PIXELS = 50_000_000;
/** The bundled font, because a server may have none. Other names refer to fonts of the system. */
const FONT = "Anton";
const fontfile = createRequire(import.meta.url).resolve(
  "@expo-google-fonts/anton/400Regular/Anton_400Regular.ttf",
);
const shortSides: Readonly<Record<Resolution, number>> = { "720p": 720, "1080p": 1080, "4k": 2160 };

/** The size applies to the upright image. */
interface Image extends Size {
  /** Starts a new pipeline: the image, upright and opaque, which covers the size. */
  cover(size: Size): Sharp;
}

/**
 * Opens an image of a raster format, detected by its first bytes: a vector graphic could refer to other files.
 *
 * @param field the parameter that the error message names
 * @throws UnusableInput when the file is not a complete image of a supported format
 */
export async function readImage(path: string, field: string): Promise<Image> {
  const message = `${field} cannot be read as an image`;
  if (!(await sniffFile(path))?.startsWith("image/")) throw new UnusableInput(message);
  const bytes = await readFile(path);
  const settings = { limitInputPixels: MAX_IMAGE_PIXELS, failOn: "truncated" } as const;
  const cover = ({ width, height }: Size) =>
    sharp(bytes, settings)
      .autoOrient()
      .flatten({ background: "#101014" })
      .toColourspace("srgb")
      .resize(width, height, { fit: "cover" });
  try {
    const { autoOrient } = await sharp(bytes, settings).metadata();
    // Reads every pixel to detect a broken image here rather than while rendering.
    await cover({ width: 16, height: 16 }).raw().toBuffer();
    return { width: autoOrient.width, height: autoOrient.height, cover };
  } catch (error) {
    throw new UnusableInput(message, error);
  }
}

/** The side of covers that stores require, in pixels. */
const COVER_SIDE = 3_000;

/**
 * Returns the size of a picture; both sides are even. `auto` keeps the aspect ratio of the input, or uses
 * 16:9 without one. The resolution sets the shorter side, unless the longer side would then be longer
 * than at 16:9.
 */
export function pictureSize(
  { aspectRatio, resolution }: { aspectRatio: ImageAspectRatio; resolution: Resolution },
  input: Size | null,
): Size {
  const isCover = aspectRatio === "1:1" && resolution === "4k";
  const shortest = isCover ? COVER_SIDE : shortSides[resolution];
  const longest = (shortest * 16) / 9;
  const own = input ? input.width / input.height : 16 / 9;
  const [width = 16, height = 9] = aspectRatio.split(":").map(Number);
  const ratio = aspectRatio === "auto" ? own : width / height;
  // Beyond 3:1 the picture would be too narrow to show anything.
  const wide = Math.min(3, Math.max(ratio, 1 / ratio));
  const long = even(Math.min(longest, shortest * wide));
  const short = even(Math.min(shortest, long / wide));
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}

/** Encoders take only even sides. */
export const even = (length: number): number => Math.max(2, Math.round(length / 2) * 2);

interface Text {
  readonly content: string;
  readonly font?: string | undefined;
  /** `#rrggbb` */
  readonly color: string;
  readonly strokeColor?: string | undefined;
  /** In pixels. */
  readonly fontSize: number;
  /** The box into which lines are wrapped and shrunk. It is centred horizontally. */
  readonly box: Size;
  /** The vertical position of the middle of the box, in pixels. */
  readonly middle: number;
}

/** Returns the layers that draw a text over a picture of this width; none when nothing is visible. */
export async function drawText(text: Text, canvasWidth: number): Promise<OverlayOptions[]> {
  const words = text.content.replace(/\p{Cc}/gu, " ").trim();
  if (words === "") return [];
  const { font, color, strokeColor, fontSize, box, middle } = text;
  const stroke = strokeColor ? Math.max(1, Math.round(fontSize / 14)) : 0;
  const pad = 2 * stroke;
  const width = Math.round(box.width) - 2 * pad;
  const escaped = words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const letters = await sharp({
    text: {
      text: `<span foreground="${color}">${escaped}</span>`,
      // At 72 dpi, a point is a pixel.
      ...{ font: `${font ? `${font}, ` : ""}${FONT} ${Math.round(fontSize)}`, fontfile, dpi: 72 },
      ...{ rgba: true, width, align: "centre", wrap: "word-char" },
    },
  })
    .resize({ width, height: Math.round(box.height), fit: "inside", withoutEnlargement: true })
    .extend({ top: pad, bottom: pad, left: pad, right: pad, background: "#00000000" })
    .png()
    .toBuffer({ resolveWithObject: true });
  const left = Math.round((canvasWidth - letters.info.width) / 2);
  const top = Math.max(0, Math.round(middle - letters.info.height / 2));
  const layers = [{ input: letters.data, left, top }];
  if (!strokeColor) return layers;
  // The outline consists of the letters, blurred and made opaque again.
  const alpha = await sharp(letters.data).extractChannel("alpha").png().toBuffer();
  const blurred = sharp(alpha)
    .blur(Math.max(0.5, stroke * 0.7))
    .linear(5, 0)
    .toColourspace("b-w");
  const { width: columns, height: rows } = letters.info;
  const input = await sharp({
    create: { width: columns, height: rows, channels: 3, background: strokeColor },
  })
    .joinChannel(await blurred.raw().toBuffer(), {
      raw: { width: columns, height: rows, channels: 1 },
    })
    .png()
    .toBuffer();
  return [{ input, left, top }, ...layers];
}

const MAX_TITLE_CHARACTERS = 60;

/**
 * Renders the images of an order, one PNG per path: a gradient by the seed, or the reference, with the
 * prompt as its title. The same order always results in the same images, and the images of one
 * order differ. @throws UnusableInput
 */
export async function renderImages(order: ImageOrder, paths: readonly string[]): Promise<void> {
  const references: Image[] = [];
  for (const { path } of order.references) references.push(await readImage(path, "A reference"));
  const size = pictureSize(order, references[0] ?? null);
  const { width, height } = size;
  // In the middle, where neither a crop to another aspect ratio nor a caption at the bottom reaches it.
  const title = await drawText(
    {
      content: shorten(order.prompt),
      color: "#ffffff",
      fontSize: Math.min(width, height) * 0.08,
      box: { width: Math.min(width * 0.86, height * 0.9), height: height * 0.3 },
      middle: height / 2,
    },
    width,
  );
  for (const [at, path] of paths.entries()) {
    const seed = order.seed + at * 61;
    const reference = references[at % Math.max(1, references.length)];
    // Dark enough for a white title. The brightness distinguishes images with the same reference.
    const brightness = 0.5 + (seed % 8) / 25;
    const ground = reference
      ? reference.cover(size).modulate({ brightness })
      : sharp(gradient(size, seed));
    await ground.composite(title).png({ compressionLevel: 6 }).toFile(path);
  }
}

const hue = (seed: number, turn = 0) => (seed * 47 + turn) % 360;

/** Never contains text of a caller. */
const gradient = ({ width, height }: Size, seed: number): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs>
      <linearGradient id="g" gradientTransform="rotate(${seed % 90} .5 .5)">
      <stop stop-color="hsl(${hue(seed)},60%,22%)"/>
      <stop offset="1" stop-color="hsl(${hue(seed, 50)},65%,48%)"/></linearGradient>
      </defs><rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  );

/** Cuts the prompt at the end of a word, if there is one. */
function shorten(prompt: string): string {
  const characters = [...prompt.trim()];
  if (characters.length <= MAX_TITLE_CHARACTERS) return prompt;
  const cut = characters.slice(0, MAX_TITLE_CHARACTERS).join("");
  return `${cut.replace(/\s+\S*$/, "")}…`;
}
