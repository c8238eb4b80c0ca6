/** Computes the numbers of paragraphs, which a Word document does not store. */
import { increment } from "./document.ts";
import { all, find, numberOf, symbolOf, valOf, type Xml } from "./office-package.ts";

/** Longer chains of styles are loops. */
const MAX_ANCESTORS = 32;
const LEVELS = 9;
/** Check boxes are the only bullets shown as they are. */
const CHECK_MARKS = /^[☐☑☒✓✔✗✘□■❑❒❏▢]$/u;

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

export const newCounters = (): Counters => ({ values: new Map(), restarted: new Set() });

export class Styles {
  readonly #styles: ReadonlyMap<string, Xml>;

  constructor(root: Xml) {
    this.#styles = byId(root, "style", "styleId");
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

const byId = (root: Xml, name: string, id: string): Map<string, Xml> =>
  new Map(all(root, name).map((element) => [element.attributes.get(id) ?? "", element]));

/** @see ECMA-376 Part 1, 17.9 Numbering */
export class Numbering {
  readonly #lists = new Map<string, List>();
  readonly #counts: Map<string, number>;

  /** @param counts the omissions, to which numbers in rare formats are added */
  constructor(root: Xml, styles: Styles, counts: Map<string, number>) {
    this.#counts = counts;
    const definitions = byId(root, "abstractNum", "abstractNumId");
    const nums = byId(root, "num", "numId");
    const levelOf = (element: Xml) => Number(element.attributes.get("ilvl") ?? 0);
    for (const [id, num] of nums) {
      const own = valOf(num, "abstractNumId") ?? "";
      const [style] = styles.chainOf(valOf(definitions.get(own), "numStyleLink"));
      const linked = valOf(find(find(style, "pPr"), "numPr"), "numId") ?? "";
      const definition = valOf(nums.get(linked), "abstractNumId") ?? own;
      const overrides = all(num, "lvlOverride");
      const levels = [
        ...all(definitions.get(definition), "lvl"),
        ...overrides.flatMap((override) => all(override, "lvl")),
      ];
      const starts = overrides.flatMap((override): [number, number][] => {
        const start = numberOf(override, "startOverride");
        return start === undefined ? [] : [[levelOf(override), start]];
      });
      this.#lists.set(id, {
        definition,
        levels: new Map(levels.map((level) => [levelOf(level), level])),
        starts: new Map(starts),
      });
    }
  }

  /**
   * Counts a paragraph. Returns its number or bullet; empty for a paragraph without one.
   * @param chain its style and those on which that is based
   */
  next(properties: Xml | undefined, chain: readonly Xml[], counters: Counters): string {
    const stated = [properties, ...chain.map((style) => find(style, "pPr"))];
    const numPrs = stated.map((one) => find(one, "numPr"));
    const idFrom = numPrs.findIndex((one) => valOf(one, "numId") !== undefined);
    const id = valOf(numPrs[idFrom], "numId") ?? "";
    const list = this.#lists.get(id);
    if (!list) return "";
    const linked = [...list.levels].find(([, level]) => {
      const style = valOf(level, "pStyle");
      return idFrom > 0 && chain.some(({ attributes }) => attributes.get("styleId") === style);
    });
    const given = numPrs.map((one) => numberOf(one, "ilvl")).find((one) => one !== undefined);
    const stating = numberOf(numPrs[0], "ilvl") ?? linked?.[0] ?? given ?? 0;
    const level = Math.min(LEVELS - 1, Math.max(0, stating));
    const values = counters.values.get(list.definition) ?? [];
    counters.values.set(list.definition, values);
    count(list, id, level, values, counters.restarted);
    return this.#label(list, level, values);
  }

  #label({ levels }: List, level: number, values: readonly (number | undefined)[]): string {
    const own = levels.get(level);
    const text = valOf(own, "lvlText") ?? "";
    if (formatOf(own) === "bullet") {
      if (text === "") return "";
      const font = find(find(own, "rPr"), "rFonts")?.attributes.get("ascii") ?? "";
      const sign = symbolOf(font, text.charCodeAt(0)) ?? text;
      return CHECK_MARKS.test(sign) ? sign : `${"  ".repeat(level)}-`;
    }
    const isLegal = find(own, "isLgl") !== undefined;
    const label = text.replace(/%([1-9])/g, (_, place: string) => {
      const at = Number(place) - 1;
      const format = formatOf(levels.get(at));
      if (!FORMATS.has(format)) increment(this.#counts, "list number format");
      return formatCount(values[at] ?? 0, isLegal && format !== "none" ? "decimal" : format);
    });
    return label.trim();
  }
}

function count(
  { levels, starts }: List,
  id: string,
  level: number,
  values: (number | undefined)[],
  restarted: Set<string>,
): void {
  const startOf = (at: number) => starts.get(at) ?? numberOf(levels.get(at), "start") ?? 0;
  const isRestart = starts.has(level) && !restarted.has(`${id} ${level}`);
  restarted.add(`${id} ${level}`);
  const current = values[level];
  values[level] = isRestart || current === undefined ? startOf(level) : current + 1;
  for (let at = 0; at < level; at++) values[at] ??= startOf(at);
  for (let at = level + 1; at < LEVELS; at++) {
    const restart = numberOf(levels.get(at), "lvlRestart") ?? at;
    if (level < restart) values[at] = undefined;
  }
}

/** Formats of Word 2010 are in an alternative, and have no name. */
const formatOf = (level: Xml | undefined): string =>
  level && find(level, "AlternateContent") ? "custom" : (valOf(level, "numFmt") ?? "decimal");

const ROMAN = Object.entries({
  ...{ m: 1000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50, xl: 40 },
  ...{ x: 10, ix: 9, v: 5, iv: 4, i: 1 },
});
const ORDINALS: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinalRules = new Intl.PluralRules("en", { type: "ordinal" });

const FORMATS = new Map<string, (value: number) => string>([
  ["none", () => ""],
  ["decimal", String],
  ["decimalZero", (value) => String(value).padStart(2, "0")],
  ["lowerLetter", letters],
  ["upperLetter", (value) => letters(value).toUpperCase()],
  ["lowerRoman", roman],
  ["upperRoman", (value) => roman(value).toUpperCase()],
  ["ordinal", (value) => `${value}${ORDINALS[ordinalRules.select(value)]}`],
]);

/** Other formats are shown in decimal. */
export const formatCount = (value: number, format: string): string =>
  (FORMATS.get(format) ?? String)(value);

/** Word repeats a letter: z is followed by aa and bb. */
function letters(value: number): string {
  const repeated = Math.ceil(value / 26);
  if (value < 1 || repeated > 30) return String(value);
  return String.fromCharCode(97 + ((value - 1) % 26)).repeat(repeated);
}

function roman(value: number): string {
  if (value < 1 || value > 3_999) return String(value);
  let rest = value;
  return ROMAN.map(([digits, unit]) => {
    const times = Math.floor(rest / unit);
    rest -= times * unit;
    return digits.repeat(times);
  }).join("");
}
