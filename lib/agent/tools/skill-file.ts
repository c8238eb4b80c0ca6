/**
 * A SKILL.md file, which anything in the sandbox may have written. The YAML parser needs time that
 * grows with the square of its input, so it is given no more than a bounded head.
 */
import { parse } from "yaml";
import { z } from "zod";
import { MAX_OUTPUT_CHARS } from "./limits.ts";

/** Lines and bytes of a file that are read for its name and description. */
export const MAX_HEAD_LINES = 40;
export const MAX_HEAD_BYTES = 4_096;
/** Front matter that is longer is part of the instructions. */
const MAX_FRONT_MATTER_CHARS = 65_536;
/** What is read of a file: its front matter, and more text than is ever shown. */
export const MAX_SKILL_BYTES = 4 * (MAX_FRONT_MATTER_CHARS + MAX_OUTPUT_CHARS);

/** A name, a description and the quotes and line breaks around them. */
const MAX_FIELDS_CHARS = 1_600;
/** A field whose value is a text: collections, tags and anchors never reach the parser. */
const TEXT_FIELD = /^(["']?)(?:name|description)\1 *:(?: *[^\s[\]{}&*!?%@`,#-]|\s*$)/;

const frontMatter = z.object({
  name: z.string().min(1).max(100).optional(),
  description: z.string().max(1_000).optional(),
});

/**
 * Reads the name and the description from the first lines of a file. Malformed front matter has
 * neither, and no other field is looked at.
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

/** The front matter without its fences, empty where there is none, and what follows it. */
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
 * Puts the arguments in place of `$ARGUMENTS` and `$1` to `$9`, or after the text. Stops once the
 * result is longer than what can be shown: a file may name a long argument a million times.
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
