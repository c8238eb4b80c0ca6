/**
 * SKILL.md files, which any code in the sandbox may have written. The YAML parser takes quadratic
 * time, so it gets only a bounded head of a file.
 */
import { parse } from "yaml";
import { z } from "zod";
import { MAX_OUTPUT_CHARS } from "./limits.ts";

/** Lines and bytes of a file that are read for its name and description. */
export const MAX_HEAD_LINES = 40;
export const MAX_HEAD_BYTES = 4_096;
/** Longer front matter counts as part of the instructions. */
const MAX_FRONT_MATTER_CHARS = 65_536;
/** Enough for the front matter and more text than is ever shown. */
export const MAX_SKILL_BYTES = 4 * (MAX_FRONT_MATTER_CHARS + MAX_OUTPUT_CHARS);

/** The limit for the name, the description, and the quotes and line breaks around them. */
const MAX_FIELDS_CHARS = 2_000;
/** A field with a text value. Collections, tags and anchors never reach the parser. */
const TEXT_FIELD = /^(["']?)(?:name|description)\1 *:(?: *[^\s[\]{}&*!?%@`,#-]|\s*$)/;

const frontMatter = z.object({
  name: z.string().min(1).max(100).optional(),
  description: z.string().max(1_024).optional(),
});

/**
 * Reads the name and the description from the first lines of a file, and no other field. Malformed
 * front matter has neither.
 */
export function readSkillHead(text: string): z.infer<typeof frontMatter> {
  const { head } = splitSkill(text.slice(0, MAX_HEAD_BYTES));
  const lines = head.split(/\r?\n/, MAX_HEAD_LINES);
  let isWanted = false;
  const wanted = lines.filter((line) => {
    // An indented or an empty line belongs to the field above it.
    if (/^\S/.test(line)) isWanted = TEXT_FIELD.test(line);
    return isWanted;
  });
  const fields = wanted.join("\n");
  if (fields.length > MAX_FIELDS_CHARS) return {};
  try {
    return frontMatter.parse(parse(fields, { maxAliasCount: 0, prettyErrors: false }) ?? {});
  } catch {
    return {};
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
