/** The colours of a mood, and what of the look a frame gets after the camera: its darker corners. */
import type { Sharp } from "sharp";
import type { Frame } from "./frame.ts";

export interface Look {
  readonly brightness: number;
  readonly saturation: number;
  /** 1 leaves it. */
  readonly contrast: number;
  /** Factors of red, green and blue. */
  readonly balance: readonly [number, number, number];
  /** How much darker the corners are, 0 to 1. */
  readonly vignette: number;
}

const neutral: Look = {
  brightness: 1,
  saturation: 1,
  contrast: 1,
  balance: [1, 1, 1],
  vignette: 0,
};

/** The first that matches counts. */
const looks: readonly (readonly [RegExp, Partial<Look>])[] = [
  [/black[ -]and[ -]white|monochrom|noir/, { saturation: 0, contrast: 1.25, vignette: 0.45 }],
  [
    /vintage|nostalg|retro|film|sepia|faded|memor/,
    { saturation: 0.7, contrast: 0.92, brightness: 1.03, balance: [1.08, 1, 0.86], vignette: 0.35 },
  ],
  [
    /dark|moody|gritty|ominous|tense|brood|myster|stark|intense/,
    { brightness: 0.84, saturation: 0.82, contrast: 1.18, balance: [0.97, 1, 1.05], vignette: 0.5 },
  ],
  [
    /melanchol|sad|lonel|cold|cool|night|blue|rain|winter|longing|distant|solemn/,
    {
      brightness: 0.93,
      saturation: 0.8,
      contrast: 1.05,
      balance: [0.9, 0.99, 1.14],
      vignette: 0.35,
    },
  ],
  [
    /dream|ethereal|soft|tender|serene|calm|peace|gentle|quiet|intimate|hush/,
    {
      brightness: 1.06,
      saturation: 0.92,
      contrast: 0.9,
      balance: [1.03, 0.99, 1.05],
      vignette: 0.15,
    },
  ],
  [
    /warm|gold|sun|cozy|cosy|romantic|hope|summer|autumn|tropical/,
    {
      brightness: 1.03,
      saturation: 1.12,
      contrast: 1.04,
      balance: [1.09, 1.01, 0.86],
      vignette: 0.25,
    },
  ],
  [
    /energ|vivid|vibrant|bold|euphor|joy|happy|party|playful|bright|electric|neon|triumph/,
    { brightness: 1.04, saturation: 1.35, contrast: 1.14, vignette: 0.1 },
  ],
];

/** A mood that no rule knows leaves the colours as they are. */
export function lookOf(mood: string | undefined): Look {
  const lower = mood?.toLowerCase() ?? "";
  const found = looks.find(([pattern]) => pattern.test(lower));
  return found ? { ...neutral, ...found[1] } : neutral;
}

export function gradeWith(look: Look): (pipeline: Sharp) => Sharp {
  const { brightness, saturation, contrast, balance } = look;
  if (look === neutral) return (pipeline) => pipeline;
  return (pipeline) =>
    pipeline.modulate({ brightness, saturation }).linear(
      balance.map((factor) => factor * contrast),
      balance.map(() => 128 * (1 - contrast)),
    );
}

/** Prepared once for a size: what each row and each column takes away. */
export function createVignette(width: number, height: number, strength: number) {
  if (strength === 0) return () => {};
  const gains = new Uint16Array(width * height);
  for (let row = 0; row < height; row++) {
    const y = (2 * row) / height - 1;
    for (let column = 0; column < width; column++) {
      const x = (2 * column) / width - 1;
      const away = Math.min(1, (x * x + y * y) / 2);
      gains[row * width + column] = Math.round(65535 * (1 - strength * away ** 1.6));
    }
  }
  return ({ y }: Frame) => {
    for (let at = 0; at < y.length; at++) {
      y[at] = 16 + ((((y[at] as number) - 16) * (gains[at] as number)) >> 16);
    }
  };
}
