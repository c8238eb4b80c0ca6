/** What a poster says: the prompt's own words, set in one of two typefaces that come with us. */
import { createRequire } from "node:module";
import sharp from "sharp";

const { resolve } = createRequire(import.meta.url);

export const typefaces = {
  poster: {
    name: "Anton",
    file: resolve("@expo-google-fonts/anton/400Regular/Anton_400Regular.ttf"),
  },
  serif: {
    name: "DM Serif Display",
    file: resolve("@expo-google-fonts/dm-serif-display/400Regular/DMSerifDisplay_400Regular.ttf"),
  },
} as const;

/** Words that ask for a picture and say nothing of what is in it, and those that only join. */
const FILLERS = new Set(
  `a an the of with and or in on at by for from to into over under as is are be it its this that
  image images picture photo photograph poster cover artwork art album single illustration design
  create make generate draw show render please high quality detailed cinematic style shot scene
  4k 8k hd ultra realistic photorealistic background very some my your our`.split(/\s+/),
);
const MOST_WORDS = 5;
const MOST_LETTERS = 40;

/** Up to three lines; empty when there is nothing to say. What stands in quotes is taken as it is. */
export function titleOf(prompt: string): readonly string[] {
  const quoted = /["“”«»]([^"“”«»]{1,40})["“”«»]/.exec(prompt)?.[1];
  const all = (quoted ?? prompt)
    .replace(/[^\p{L}\p{M}\p{N}'’&!? -]/gu, " ")
    .split(/\s+/)
    .filter(Boolean);
  const telling = quoted ? all : all.filter((word) => !FILLERS.has(word.toLowerCase()));
  const words: string[] = [];
  for (const word of telling.slice(0, MOST_WORDS)) {
    const length = [...words, word].join(" ").length;
    if (length <= MOST_LETTERS) words.push(word);
  }
  const [first = "", ...rest] = words;
  return breakLines(
    first ? [first.charAt(0).toLocaleUpperCase("en") + first.slice(1), ...rest] : [],
  );
}

/** As even as whole words allow. */
function breakLines(words: readonly string[]): readonly string[] {
  const letters = words.join(" ").length;
  const wanted = Math.min(3, words.length, Math.max(1, Math.round(letters / 10)));
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const isFull = last === undefined || last.length + word.length / 2 > letters / wanted;
    if (isFull && lines.length < wanted) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

export interface TypeSetting {
  readonly lines: readonly string[];
  readonly face: keyof typeof typefaces;
  readonly colour: string;
  readonly align: "left" | "centre" | "right";
  /** The box that the words fill as far as they can, in pixels. */
  readonly width: number;
  readonly height: number;
}

export interface SetType {
  /** PNG. */
  readonly image: Buffer;
  readonly width: number;
  readonly height: number;
}

export async function setType(setting: TypeSetting): Promise<SetType> {
  const { name, file } = typefaces[setting.face];
  const escaped = setting.lines.join("\n").replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const words = setting.face === "poster" ? escaped.toLocaleUpperCase("en") : escaped;
  const { data, info } = await sharp({
    text: {
      text: `<span foreground="${setting.colour}" line_height="0.92">${words}</span>`,
      font: name,
      fontfile: file,
      width: Math.round(setting.width),
      height: Math.round(setting.height),
      align: setting.align,
      rgba: true,
    },
  })
    .png()
    .toBuffer({ resolveWithObject: true });
  return { image: data, width: info.width, height: info.height };
}
