/** Computes the numbers of paragraphs, which a Word document does not store. */
import { all, find, numberOf, symbolOf, valOf, type Xml } from "./office-package.ts";

/** Longer chains of styles are loops. */
const MAX_ANCESTORS = 32;
const LEVELS = 9;

interface List {
  /** Lists of one definition continue each other. */
  readonly definition: string;
  readonly levels: ReadonlyMap<number, Xml>;
  readonly starts: ReadonlyMap<number, number>;
}

/** The counters of a story: a text box counts for itself. */
export interface Counters {
  readonly values: Map<string, (number | undefined)[]>;
  /** The start values of lists that have been used up. */
  readonly restarted: Set<string>;
}

export interface ListLabel {
  readonly label: string;
  /** From 0. */
  readonly level: number;
  readonly isBullet: boolean;
}

export const newCounters = (): Counters => ({ values: new Map(), restarted: new Set() });

export class Styles {
  readonly #styles: ReadonlyMap<string, Xml>;

  constructor(root: Xml) {
    const id = (style: Xml) => style.attributes.get("styleId") ?? "";
    this.#styles = new Map(all(root, "style").map((style) => [id(style), style]));
  }

  /** Returns a style and those on which it is based, the nearest first. */
  chainOf(id: string | undefined): Xml[] {
    const chain: Xml[] = [];
    for (let next = id; next !== undefined && chain.length < MAX_ANCESTORS; ) {
      const style = this.#styles.get(next);
      if (style) chain.push(style);
      next = valOf(style, "basedOn");
    }
    return chain;
  }
}

/** @see ECMA-376 Part 1, 17.9 Numbering */
export class Numbering {
  readonly #lists = new Map<string, List>();
  readonly #styles: Styles;

  constructor(root: Xml, styles: Styles) {
    this.#styles = styles;
    const idOf = (element: Xml, name: string) => element.attributes.get(name) ?? "";
    const definitions = new Map(
      all(root, "abstractNum").map((one) => [idOf(one, "abstractNumId"), one]),
    );
    const nums = new Map(all(root, "num").map((num) => [idOf(num, "numId"), num]));
    const definitionOf = (num: Xml | undefined, depth = 0): string => {
      const id = valOf(num, "abstractNumId") ?? "";
      const link = valOf(definitions.get(id), "numStyleLink");
      if (link === undefined || depth > MAX_ANCESTORS) return id;
      const [style] = styles.chainOf(link);
      const linked = valOf(find(find(style, "pPr"), "numPr"), "numId") ?? "";
      return definitionOf(nums.get(linked), depth + 1);
    };
    for (const [id, num] of nums) {
      const definition = definitionOf(num);
      const overrides = all(num, "lvlOverride");
      const levelOf = (element: Xml) => Number(element.attributes.get("ilvl") ?? 0);
      const own = overrides.flatMap((override) => all(override, "lvl"));
      const starts = overrides.flatMap((override): [number, number][] => {
        const start = numberOf(override, "startOverride");
        return start === undefined ? [] : [[levelOf(override), start]];
      });
      const levels = [...all(definitions.get(definition), "lvl"), ...own];
      this.#lists.set(id, {
        definition,
        levels: new Map(levels.map((level) => [levelOf(level), level])),
        starts: new Map(starts),
      });
    }
  }

  /** Counts a paragraph. Returns its number or bullet; undefined for a paragraph without one. */
  next(properties: Xml | undefined, counters: Counters): ListLabel | undefined {
    const chain = this.#styles.chainOf(valOf(properties, "pStyle"));
    const stated = [properties, ...chain.map((style) => find(style, "pPr"))];
    const numPrs = stated.map((one) => find(one, "numPr"));
    const idFrom = numPrs.findIndex((one) => valOf(one, "numId") !== undefined);
    const id = valOf(numPrs[idFrom], "numId") ?? "";
    const list = this.#lists.get(id);
    if (!list) return undefined;
    const linked = [...list.levels].find(([, level]) => {
      const style = valOf(level, "pStyle");
      return idFrom > 0 && chain.some(({ attributes }) => attributes.get("styleId") === style);
    });
    const given = numPrs.map((one) => numberOf(one, "ilvl")).find((one) => one !== undefined);
    const level = Math.min(
      LEVELS - 1,
      Math.max(0, numberOf(numPrs[0], "ilvl") ?? linked?.[0] ?? given ?? 0),
    );
    const counts = counters.values.get(list.definition) ?? [];
    counters.values.set(list.definition, counts);
    count(list, id, level, counts, counters.restarted);
    const label = labelOf(list, level, counts);
    const isBullet = formatOf(list.levels.get(level)) === "bullet";
    return label === undefined ? undefined : { label, level, isBullet };
  }
}

function count(
  { levels, starts }: List,
  id: string,
  level: number,
  counts: (number | undefined)[],
  restarted: Set<string>,
): void {
  const startOf = (at: number) => starts.get(at) ?? numberOf(levels.get(at), "start") ?? 0;
  const isRestart = starts.has(level) && !restarted.has(`${id} ${level}`);
  restarted.add(`${id} ${level}`);
  const current = counts[level];
  counts[level] = isRestart || current === undefined ? startOf(level) : current + 1;
  for (let at = 0; at < level; at++) counts[at] ??= startOf(at);
  for (let at = level + 1; at < LEVELS; at++) {
    const restart = numberOf(levels.get(at), "lvlRestart") ?? at;
    if (level < restart) counts[at] = undefined;
  }
}

function labelOf(
  { levels }: List,
  level: number,
  counts: readonly (number | undefined)[],
): string | undefined {
  const own = levels.get(level);
  const format = formatOf(own);
  const text = valOf(own, "lvlText") ?? "";
  if (format === "bullet") {
    if (text === "" && !find(own, "lvlPicBulletId")) return undefined;
    const font = find(find(own, "rPr"), "rFonts")?.attributes.get("ascii") ?? "";
    return symbolOf(font, text.charCodeAt(0)) ?? text;
  }
  const isLegal = find(own, "isLgl") !== undefined;
  const label = text.replace(/%([1-9])/g, (_, place: string) => {
    const at = Number(place) - 1;
    const stated = formatOf(levels.get(at));
    return formatCount(counts[at] ?? 0, isLegal && stated !== "none" ? "decimal" : stated);
  });
  return label.trim() === "" ? undefined : label.trim();
}

/** A format of Word 2010 stands in an alternative, such as `001, 002, 003, …`. */
function formatOf(level: Xml | undefined): string {
  const format =
    find(level, "numFmt") ?? find(find(find(level, "AlternateContent"), "Choice"), "numFmt");
  return format?.attributes.get("format") ?? format?.attributes.get("val") ?? "decimal";
}

const ROMAN = Object.entries({
  ...{ m: 1000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50, xl: 40 },
  ...{ x: 10, ix: 9, v: 5, iv: 4, i: 1 },
});

const ORDINALS: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd", other: "th" };
const UNITS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const IRREGULAR: Readonly<Record<string, string>> = {
  ...{ one: "first", two: "second", three: "third", five: "fifth", eight: "eighth" },
  ...{ nine: "ninth", twelve: "twelfth" },
};

/** Other formats are shown in decimal. */
export function formatCount(value: number, format: string): string {
  const letters = (alphabet: string) => {
    const repeated = Math.ceil(value / alphabet.length);
    // Word repeats a letter: z is followed by aa and bb.
    if (value < 1 || repeated > 30) return String(value);
    return (alphabet[(value - 1) % alphabet.length] ?? "").repeat(repeated);
  };
  const from = (first: number, last: number) =>
    value >= 1 && value <= last ? String.fromCodePoint(first + value - 1) : String(value);
  switch (format) {
    case "none":
      return "";
    case "lowerLetter":
      return letters("abcdefghijklmnopqrstuvwxyz");
    case "upperLetter":
      return letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    case "russianLower":
      return letters("абвгдежзиклмнопрстуфхцчшщыэюя");
    case "russianUpper":
      return letters("АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ");
    case "lowerRoman":
      return roman(value);
    case "upperRoman":
      return roman(value).toUpperCase();
    case "ordinal":
      return `${value}${ORDINALS[new Intl.PluralRules("en", { type: "ordinal" }).select(value)]}`;
    case "cardinalText":
      return capitalized(inWords(value));
    case "ordinalText":
      return capitalized(
        inWords(value).replace(
          /[a-z]+$/,
          (last) => IRREGULAR[last] ?? `${last.replace(/y$/, "ie")}th`,
        ),
      );
    case "numberInDash":
      return `- ${value} -`;
    case "decimalEnclosedCircle":
    case "decimalEnclosedCircleChinese":
      return from(0x2460, 20);
    case "decimalEnclosedParen":
      return from(0x2474, 20);
    case "decimalEnclosedFullstop":
      return from(0x2488, 20);
    case "decimalFullWidth":
      return String(value).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
    case "chicago":
      return value < 1
        ? String(value)
        : ("*†‡§"[(value - 1) % 4] ?? "").repeat(Math.min(9, Math.ceil(value / 4)));
    case "aiueo":
    case "aiueoFullWidth":
      return letters(
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
      );
    case "ideographTraditional":
      return letters("甲乙丙丁戊己庚辛壬癸");
    case "japaneseCounting":
    case "chineseCounting":
    case "chineseCountingThousand":
    case "taiwaneseCounting":
    case "taiwaneseCountingThousand":
    case "ideographDigital":
      return hanNumber(value);
    case "decimalZero":
      return String(value).padStart(2, "0");
    default: {
      const width = /^0*1, 0*2, /.test(format) ? format.indexOf(",") : 0;
      return String(value).padStart(Math.min(width, 9), "0");
    }
  }
}

function roman(value: number): string {
  if (value < 1 || value > 3_999) return String(value);
  let rest = value;
  return ROMAN.map(([letters, unit]) => {
    const times = Math.floor(rest / unit);
    rest -= times * unit;
    return letters.repeat(times);
  }).join("");
}

function inWords(value: number): string {
  if (value < 20) return UNITS[value] ?? String(value);
  if (value > 99) return String(value);
  const tens = TENS[Math.floor(value / 10) - 2] ?? "";
  return value % 10 === 0 ? tens : `${tens}-${UNITS[value % 10]}`;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function hanNumber(value: number): string {
  const digits = "〇一二三四五六七八九";
  if (value < 1 || value > 99) return String(value);
  const [tens, units] = [Math.floor(value / 10), value % 10];
  const ten = tens === 0 ? "" : `${tens > 1 ? digits[tens] : ""}十`;
  return ten + (units === 0 ? "" : digits[units]);
}
