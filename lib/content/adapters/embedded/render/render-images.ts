/** Posters: a drawing in the colours of the words or of a reference, the references, and type. */
import sharp, { type OverlayOptions } from "sharp";
import type { ImageOrder } from "../../../port.ts";
import type { RenderReply } from "../protocol.ts";
import { frameSize } from "./frame-size.ts";
import { type Motif, painters } from "./paint-motif.ts";
import { type Palette, paletteFor, paletteOf } from "./palette.ts";
import { createRandom, type Random } from "./random.ts";
import { type Image, readImage } from "./read-image.ts";
import { svg } from "./svg.ts";
import { setType, titleOf } from "./title.ts";

interface Size {
  readonly width: number;
  readonly height: number;
}

/** PNGs. The same order makes the same images, and each of one order is another. @throws UnusableInput */
export async function renderImages(
  order: ImageOrder,
  paths: readonly string[],
): Promise<RenderReply> {
  const references: Image[] = [];
  for (const { path } of order.references) references.push(await readImage(path, "A reference"));
  const [first] = references;
  const size = frameSize(order.aspectRatio, order.resolution, first ?? null);
  const random = createRandom(order.seed, order.prompt);
  const start = Math.floor(random() * painters.length);
  for (const [at, path] of paths.entries()) {
    const words = `${order.prompt} ${JSON.stringify(order.styleRules ?? "")}`;
    const palette = first ? await paletteOf(first) : paletteFor(words, random);
    const paint = painters[(start + at) % painters.length] ?? painters[0];
    const motif = paint(size.width, size.height, palette, random);
    const photos = await placePhotos(references, size, palette, start + at);
    const type = await placeType(order, motif, size, first !== undefined);
    await sharp(svg(size.width, size.height, motif.drawing))
      .flatten({ background: palette[0] })
      .composite([...photos, ...(await grain(random)), ...type])
      .png({ compressionLevel: 6 })
      .toFile(path);
  }
  return { op: "images" };
}

/** The first large, in one of three frames; the others as small rounds beside it. */
async function placePhotos(
  [first, ...others]: readonly Image[],
  { width, height }: Size,
  palette: Palette,
  variant: number,
): Promise<OverlayOptions[]> {
  if (!first) return [];
  const shortest = Math.min(width, height);
  const shade = svg(
    width,
    height,
    `<defs><linearGradient id="g" x1="0" y1="0" x2="0" y2="1"><stop offset=".4" stop-color="${palette[0]}" stop-opacity="0"/>
    <stop offset="1" stop-color="${palette[0]}" stop-opacity=".92"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#g)"/>`,
  );
  const side = Math.round(shortest * 0.66);
  const tall = Math.round(Math.min(height * 0.7, side * 1.15));
  const rounds = await Promise.all(
    others.slice(0, 4).map(async (image, at) => {
      const small = Math.round(shortest * 0.16);
      const left = Math.round(width - (at + 1) * small * 1.15 - shortest * 0.04);
      const input = await cut(
        image,
        small,
        small,
        `<circle cx="50%" cy="50%" r="50%" fill="#fff"/>`,
      );
      return { input, left, top: Math.round(shortest * 0.05) };
    }),
  );
  if (variant % 3 === 0) {
    const whole = await cut(first, width, height, `<rect width="100%" height="100%" fill="#fff"/>`);
    return [{ input: whole }, { input: shade }, ...rounds];
  }
  const [high, shape] =
    variant % 3 === 1
      ? [side, `<circle cx="50%" cy="50%" r="50%" fill="#fff"/>`]
      : // An arch: round above, straight below.
        [tall, `<rect width="100%" height="200%" rx="${side / 2}" fill="#fff"/>`];
  const input = await cut(first, side, high, shape);
  const left = Math.round((width - side) / 2);
  const top = Math.round((height - high) * (variant % 3 === 1 ? 0.4 : 0.3));
  return [{ input, left, top }, { input: shade }, ...rounds];
}

async function cut(image: Image, width: number, height: number, shape: string): Promise<Buffer> {
  const photo = image.open().resize(width, height, { fit: "cover", position: "attention" });
  return sharp(await photo.png({ compressionLevel: 1 }).toBuffer())
    .ensureAlpha()
    .composite([{ input: svg(width, height, shape), blend: "dest-in" }])
    .png({ compressionLevel: 1 })
    .toBuffer();
}

async function placeType(
  order: ImageOrder,
  { words }: Motif,
  { width, height }: Size,
  isOverPhoto: boolean,
): Promise<OverlayOptions[]> {
  const lines = titleOf(order.prompt);
  const isUnwanted = /avoid[^\]}]*\b(text|words|letters|lettering|type|typography)\b/i;
  if (lines.length === 0 || isUnwanted.test(JSON.stringify(order.styleRules ?? ""))) return [];
  // Over a photo, the words stand where it was darkened for them.
  const place = isOverPhoto
    ? {
        ...words,
        x: 0.07,
        y: 0.7,
        width: 0.86,
        height: 0.23,
        align: "centre" as const,
        colour: "#ffffff",
      }
    : words;
  const type = await setType({
    lines,
    face: place.face,
    colour: place.colour,
    align: place.align,
    width: place.width * width,
    height: place.height * height,
  });
  const room = { x: place.width * width - type.width, y: place.height * height - type.height };
  const aside = { left: 0, centre: room.x / 2, right: room.x }[place.align];
  return [
    {
      input: type.image,
      left: Math.max(0, Math.round(place.x * width + aside)),
      top: Math.max(0, Math.round(place.y * height + room.y / 2)),
    },
  ];
}

const GRAIN_SIDE = 256;

/** As printed on paper; it also keeps slopes of colour from showing steps. */
async function grain(random: Random): Promise<OverlayOptions[]> {
  const pixels = Buffer.alloc(GRAIN_SIDE * GRAIN_SIDE * 4, 0);
  for (let at = 0; at < pixels.length; at += 4) {
    const speck = random() + random() - 1;
    pixels.fill(speck > 0 ? 255 : 0, at, at + 3);
    pixels[at + 3] = Math.round(Math.abs(speck) * 20);
  }
  const raw = { width: GRAIN_SIDE, height: GRAIN_SIDE, channels: 4 } as const;
  return [{ input: pixels, raw, tile: true }];
}
