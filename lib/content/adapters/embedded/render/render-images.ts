/**
 * Renders the images of an order: a gradient by the seed, or the reference, with the prompt as its
 * title.
 */
import sharp, { type OverlayOptions } from "sharp";
import type { ImageOrder } from "../../../port.ts";
import type { RenderReply } from "../protocol.ts";
import { drawText } from "./draw-text.ts";
import type { Size } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { type Image, readImage } from "./read-image.ts";

const MAX_TITLE_CHARACTERS = 60;
const TITLE_HEIGHT = 0.3;

/**
 * Writes one PNG per path. The same order always results in the same images, and the images of one
 * order differ. @throws UnusableInput
 */
export async function renderImages(
  order: ImageOrder,
  paths: readonly string[],
): Promise<RenderReply> {
  const references: Image[] = [];
  for (const { path } of order.references) references.push(await readImage(path, "A reference"));
  const size = frameSize(order.aspectRatio, order.resolution, references[0] ?? null);
  for (const [at, path] of paths.entries()) {
    const reference = references[at % Math.max(1, references.length)];
    const ground = reference
      ? reference.open().resize(size.width, size.height, { fit: "cover" })
      : sharp(gradient(size, order.seed + at * 61));
    // The tint distinguishes images with the same reference.
    const tint = reference ? [{ input: shade(size, order.seed + at * 61) }] : [];
    await ground
      .composite([...tint, ...(await title(order.prompt, size))])
      .png({ compressionLevel: 6 })
      .toFile(path);
  }
  return { op: "images" };
}

const hue = (seed: number, turn = 0) => (seed * 47 + turn) % 360;

const gradient = (size: Size, seed: number): Buffer =>
  svg(
    size,
    `<linearGradient id="g" gradientTransform="rotate(${seed % 90} .5 .5)">
      <stop stop-color="hsl(${hue(seed)},60%,22%)"/>
      <stop offset="1" stop-color="hsl(${hue(seed, 50)},65%,48%)"/></linearGradient>`,
  );

/** Dark enough for a white title, and darker towards the bottom. */
const shade = (size: Size, seed: number): Buffer =>
  svg(
    size,
    `<linearGradient id="g" x1="0" y1="0" x2="0" y2="1">
      <stop offset=".3" stop-color="hsl(${hue(seed)},60%,12%)" stop-opacity=".3"/>
      <stop offset="1" stop-color="hsl(${hue(seed)},60%,12%)" stop-opacity=".85"/></linearGradient>`,
  );

/** Never contains text of a caller. */
const svg = ({ width, height }: Size, definition: string): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <defs>${definition}</defs><rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  );

/**
 * Centres the title, where neither a crop to another aspect ratio nor a caption at the bottom
 * reaches it.
 */
async function title(prompt: string, { width, height }: Size): Promise<OverlayOptions[]> {
  const canvas = { width, height };
  const style = { color: "#ffffff", fontSize: Math.min(width, height) * 0.08 };
  const sides = { width: Math.min(width * 0.86, height * 0.9), height: height * TITLE_HEIGHT };
  const text = await drawText(shorten(prompt), style, { ...sides, middle: height / 2 }, canvas);
  return text ? [{ input: text, raw: { ...canvas, channels: 4 } }] : [];
}

/** Cuts the prompt at the end of a word, if there is one. */
function shorten(prompt: string): string {
  const characters = [...prompt.trim()];
  if (characters.length <= MAX_TITLE_CHARACTERS) return prompt;
  const cut = characters.slice(0, MAX_TITLE_CHARACTERS).join("");
  return `${cut.replace(/\s+\S*$/, "")}…`;
}
