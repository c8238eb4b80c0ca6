/** Images of an order: a gradient of colours by the seed, or the reference, with the prompt as title. */
import sharp, { type OverlayOptions } from "sharp";
import type { ImageOrder } from "../../../port.ts";
import type { RenderReply } from "../protocol.ts";
import { drawText } from "./draw-text.ts";
import type { Size } from "./frame.ts";
import { frameSize } from "./frame-size.ts";
import { type Image, readImage } from "./read-image.ts";

const MAX_TITLE_CHARACTERS = 80;
const TITLE_HEIGHT = 0.3;

/** Writes PNGs. The same order gives the same images, and no two of one order. @throws UnusableInput */
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
    // Told apart by their tint where they are of one reference.
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

/** From nothing to dark at the bottom, where the title stands. */
const shade = (size: Size, seed: number): Buffer =>
  svg(
    size,
    `<linearGradient id="g" x1="0" y1="0" x2="0" y2="1">
      <stop offset=".3" stop-color="hsl(${hue(seed)},60%,12%)" stop-opacity="0.1"/>
      <stop offset="1" stop-color="hsl(${hue(seed)},60%,12%)" stop-opacity=".85"/></linearGradient>`,
  );

/** No text of a caller ever stands in it. */
const svg = ({ width, height }: Size, definition: string): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <defs>${definition}</defs><rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  );

async function title(prompt: string, { width, height }: Size): Promise<OverlayOptions[]> {
  const words = [...prompt].slice(0, MAX_TITLE_CHARACTERS).join("");
  const style = { color: "#ffffff", fontSize: Math.min(width, height) * 0.1 };
  const text = await drawText(words, style, { width: width * 0.86, height: height * TITLE_HEIGHT });
  if (!text) return [];
  const raw = { width: text.width, height: text.height, channels: 4 } as const;
  const [left, top] = [(width - text.width) / 2, height * 0.94 - text.height];
  return [{ input: text.rgba, raw, left: Math.round(left), top: Math.round(top) }];
}
