/** Colours that belong together: those of an image, or some that fit a seed and the words. */

import type { Random } from "./random.ts";
import type { Image } from "./read-image.ts";
import { rawRgb } from "./read-image.ts";

/** `#rrggbb`, from the darkest to the lightest; at least four. */
export type Palette = readonly [string, string, string, string, ...string[]];

type Rgb = readonly [number, number, number];

const SIDE = 32;
const WANTED = 5;

/** The colours that an image is made of, bright ones first to be counted and no two alike. */
export async function paletteOf(image: Image): Promise<Palette> {
  const rgb = await rawRgb(image.open().resize(SIDE, SIDE, { fit: "fill" }));
  const buckets = new Map<number, { count: number; sum: [number, number, number] }>();
  for (let at = 0; at < rgb.length; at += 3) {
    const [r, g, b] = [rgb[at] ?? 0, rgb[at + 1] ?? 0, rgb[at + 2] ?? 0];
    const key = ((r >> 5) << 6) | ((g >> 5) << 3) | (b >> 5);
    const bucket = buckets.get(key) ?? { count: 0, sum: [0, 0, 0] };
    bucket.count += 1;
    bucket.sum[0] += r;
    bucket.sum[1] += g;
    bucket.sum[2] += b;
    buckets.set(key, bucket);
  }
  const found = [...buckets.values()]
    .map(({ count, sum: [r, g, b] }) => ({ count, rgb: [r / count, g / count, b / count] as Rgb }))
    .sort((one, other) => weight(other) - weight(one));
  const chosen: Rgb[] = [];
  for (const least of [90, 50, 20]) {
    for (const { rgb: colour } of found) {
      const isNew = chosen.every((known) => distance(known, colour) >= least);
      if (isNew && chosen.length < WANTED) chosen.push(colour);
    }
  }
  // A picture of one colour gets shades of it.
  for (let shade = 1; chosen.length < WANTED; shade++) {
    const [r, g, b] = chosen[0] ?? [128, 128, 128];
    const by = shade % 2 ? 1 + shade * 0.25 : 1 - shade * 0.2;
    chosen.push([Math.min(255, r * by), Math.min(255, g * by), Math.min(255, b * by)]);
  }
  return asPalette(chosen);
}

const weight = ({ count, rgb }: { count: number; rgb: Rgb }) =>
  Math.sqrt(count) * (0.35 + (Math.max(...rgb) - Math.min(...rgb)) / 255);

const distance = (one: Rgb, other: Rgb) =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);

const light = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function asPalette(colours: readonly Rgb[]): Palette {
  const sorted = [...colours].sort((one, other) => light(one) - light(other)).map(toHex);
  const [a = "#000000", b = a, c = b, d = c, ...more] = sorted;
  return [a, b, c, d, ...more];
}

const toHex = (colour: Rgb) =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

const palettes: readonly { readonly words: RegExp; readonly colours: Palette }[] = [
  {
    words: /sunset|dusk|gold|warm|summer|desert|fire/,
    colours: ["#2b1038", "#8f1d4f", "#e2543e", "#f7a440", "#ffe9b8"],
  },
  {
    words: /night|midnight|space|star|moon|cosmic/,
    colours: ["#0a0d24", "#1d2a6b", "#5a4fcf", "#d86fd0", "#f4e6ff"],
  },
  {
    words: /neon|electric|club|party|cyber|city|synth/,
    colours: ["#0c0718", "#3a0ca3", "#f72585", "#4cc9f0", "#e8fbff"],
  },
  {
    words: /forest|nature|green|garden|earth|moss|jungle/,
    colours: ["#0e2018", "#1f5a3d", "#6a9c4f", "#d9c45f", "#f5f1d8"],
  },
  {
    words: /sea|ocean|water|rain|blue|river|cold|winter|ice/,
    colours: ["#071d2b", "#0f4c66", "#2f93a8", "#9fd6d2", "#f1f7ef"],
  },
  {
    words: /dream|soft|pastel|ethereal|calm|cloud|gentle|tender/,
    colours: ["#37305e", "#8d7cc3", "#f2a7c3", "#fbd7b5", "#fffaf0"],
  },
  {
    words: /dark|noir|moody|gritty|metal|shadow|ghost/,
    colours: ["#08080a", "#232228", "#5c5a60", "#c8352e", "#efe9e1"],
  },
  {
    words: /retro|vintage|nostalg|seventies|70s|funk|soul|disco/,
    colours: ["#2c1a14", "#9b3d1f", "#e08e2b", "#3f7d78", "#f6e7c8"],
  },
  {
    words: /love|heart|rose|romantic|red|passion/,
    colours: ["#2a0712", "#8a0f2e", "#e0315a", "#ff9a8b", "#ffeee6"],
  },
  {
    words: /pop|happy|joy|bright|playful|fun|tropical/,
    colours: ["#26136b", "#f0386b", "#ff8c42", "#23c9b7", "#fff3d6"],
  },
  {
    words: /jazz|smok|lounge|brass|elegan/,
    colours: ["#10151f", "#27425c", "#b5573a", "#dfb15b", "#f3ead7"],
  },
  {
    words: /minimal|white|clean|paper|quiet/,
    colours: ["#1a1a1a", "#3d5a80", "#ee6c4d", "#e0d8c8", "#faf7f0"],
  },
];

/** By the words, else by chance. */
export function paletteFor(words: string, random: Random): Palette {
  const lower = words.toLowerCase();
  const fitting = palettes.filter(({ words: pattern }) => pattern.test(lower));
  const among = fitting.length > 0 ? fitting : palettes;
  const chosen = among[Math.floor(random() * among.length)] ?? among[0];
  if (!chosen) throw new Error("There are palettes");
  return chosen.colours;
}
