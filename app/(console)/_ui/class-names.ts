const POSITIONS = /^(static|relative|absolute|fixed|sticky)$/;
const DISPLAYS = /^((inline-)?(block|flex|grid)|contents|hidden)$/;
const VALUES =
  /^-?(bg|h|w|size|px?|p[xylrtb]|top|aspect|rounded(?!-[tblr]{1,2}-)|(max|min)-[wh]|gap(-[xy])?|justify|shrink)(-.+)?$/;
/** Text sizes, alignments and wrapping, which are independent of the color. */
const TEXTS: readonly RegExp[] = [
  /^text-(xs|sm|base|lg|\dxl|xl|\[\d.*])$/,
  /^text-(left|center|right)$/,
  /^text-(balance|pretty|nowrap|wrap)$/,
  /^text-/,
];
const BORDER_COLOR = /^border-(?!([xytrbl](-\d)?|\d|dashed|collapse)$)/;
/** The properties that a shorthand sets, too. */
const COVERED: Readonly<Record<string, readonly string[]>> = {
  ...{ size: ["h", "w"], gap: ["gap-x", "gap-y"] },
  ...{ p: ["px", "py", "pl", "pr", "pt", "pb"], px: ["pl", "pr"], py: ["pt", "pb"] },
};

/** Returns the property that a class sets without its variants; undefined for one that no component overrides. */
function propertyOf(name: string): string | undefined {
  if (POSITIONS.test(name)) return "position";
  if (DISPLAYS.test(name)) return "display";
  if (BORDER_COLOR.test(name)) return "border-color";
  const text = TEXTS.findIndex((pattern) => pattern.test(name));
  return text < 0 ? VALUES.exec(name)?.[1] : `text ${text}`;
}

/**
 * Joins class names. Of two Tailwind classes for the same property, the later one wins. Only properties that
 * components override for each other are known here: all of Tailwind's would be a fifth of a page's script.
 */
export function cn(...values: readonly (string | false | null | undefined)[]): string {
  const lists = values.filter(Boolean);
  if (lists.length < 2) return lists.join("");
  const taken = new Set<string>();
  const kept = lists
    .join(" ")
    .split(" ")
    .reverse()
    .filter((name) => {
      const [, variants = "", utility = ""] = /^(.*:)?([^:]*)$/.exec(name) ?? [];
      const property = propertyOf(utility);
      if (property === undefined) return true;
      if (taken.has(variants + property)) return false;
      for (const one of [property, ...(COVERED[property] ?? [])]) taken.add(variants + one);
      return true;
    });
  return kept.reverse().join(" ");
}
