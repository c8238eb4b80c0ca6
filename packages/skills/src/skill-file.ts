/**
 * SKILL.md files, which any code in the sandbox may have written. The YAML parser takes quadratic
 * time, so it gets only a bounded head of a file.
 */
import { cutOutput, MAX_OUTPUT_CHARS } from "@platform/sandbox/cut-output";
import { parse } from "yaml";

/** Lines and bytes of a file that are read for its name and description. */
export const MAX_HEAD_LINES = 40;
export const MAX_HEAD_BYTES = 4_096;
/** Longer front matter counts as part of the instructions. */
const MAX_FRONT_MATTER_CHARS = 65_536;
/** Enough for the front matter and more text than is ever shown. */
export const MAX_SKILL_TEXT_BYTES = 4 * (MAX_FRONT_MATTER_CHARS + MAX_OUTPUT_CHARS);

/** The limit for a field that is parsed. Of a longer one, the start is. */
const MAX_FIELD_CHARS = 2_000;
const MAX_NAME_CHARS = 100;
/** How much of a description a list shows. */
const MAX_LISTED_CHARS = 250;
/** A field with a text value. Collections, tags and anchors never reach the parser. */
const TEXT_FIELD = /^(["']?)(name|description)\1 *:(?: *[^\s[\]{}&*!?%@`,#-]|\s*$)/;

/** Returns a description in one line, as lists of skills show it. */
export const listedDescription = (description: string): string =>
  cutOutput(
    description
      .slice(0, 2 * MAX_FIELD_CHARS)
      .replace(/\s+/g, " ")
      .trim(),
    MAX_LISTED_CHARS,
  );

/**
 * Reads the name and the description from the first lines of a file, and no other field. A value that is
 * not valid YAML, such as a plain one with a colon, is used literally.
 */
export function readSkillHead(text: string): { name?: string; description?: string } {
  const { head } = splitSkill(text.slice(0, MAX_HEAD_BYTES));
  const fields = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of head.split(/\r?\n/, MAX_HEAD_LINES)) {
    // An indented or an empty line belongs to the field above it.
    if (/^\S/.test(line)) {
      lines = [];
      const field = TEXT_FIELD.exec(line)?.[2];
      if (field) fields.set(field, lines);
    }
    lines.push(line);
  }
  const name = textIn(fields.get("name"));
  const description = textIn(fields.get("description"));
  return {
    ...(name && name.length <= MAX_NAME_CHARS && { name }),
    ...(description && { description }),
  };
}

function textIn(lines: readonly string[] = []): string | undefined {
  const field = lines.join("\n").slice(0, MAX_FIELD_CHARS);
  const plain = field.replace(/^[^:]*:\s*[>|]?[+-]?\s*/, "").replace(/^(["'])(.*?)\1?\s*$/s, "$2");
  try {
    const parsed: unknown = parse(field, { maxAliasCount: 0, prettyErrors: false });
    const [value] = Object.values(Object(parsed));
    return typeof value === "string" ? value : plain;
  } catch {
    return plain;
  }
}

/** Returns the front matter without its fences, empty if there is none, and the text after it. */
export function splitSkill(text: string): { readonly head: string; readonly body: string } {
  const opening = /^\uFEFF?---\r?\n/.exec(text)?.[0];
  if (opening === undefined) return { head: "", body: text };
  const closing = /\r?\n---[ \t]{0,100}(?:\r?\n|$)/.exec(
    text.slice(opening.length - 1, opening.length + MAX_FRONT_MATTER_CHARS),
  );
  if (closing === null) return { head: "", body: text };
  const end = opening.length - 1 + closing.index;
  return {
    head: text.slice(opening.length, end),
    body: text.slice(end + closing[0].length),
  };
}

/**
 * Substitutes the arguments for `$ARGUMENTS` and `$1` to `$9`, or appends them. Stops when the result is
 * longer than the output limit, because a file may repeat a long argument a million times.
 */
export function insertArguments(body: string, args = ""): string {
  const words = args.split(/\s+/).filter(Boolean);
  const places = /\$(ARGUMENTS|[1-9])(?!\w)/g;
  let text = "";
  let copied = 0;
  for (let place = places.exec(body); place !== null; place = places.exec(body)) {
    const value = place[1] === "ARGUMENTS" ? args : (words[Number(place[1]) - 1] ?? "");
    text += body.slice(copied, place.index) + value;
    copied = places.lastIndex;
    if (text.length > MAX_OUTPUT_CHARS) return text;
  }
  if (copied > 0) return text + body.slice(copied);
  return args === "" ? body : `${body.trimEnd()}\n\nARGUMENTS: ${args}\n`;
}
