/**
 * Renders the images of an order: a gradient by the seed, or the reference, with the prompt as its
 * title.
 */
import sharp from "sharp";
import type { ImageOrder } from "../../../port.ts";
import { drawText, type Image, pictureSize, readImage, type Size } from "./pictures.ts";

const MAX_TITLE_CHARACTERS = 60;

/**
 * Writes one PNG per path. The same order always results in the same images, and the images of one
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
