/** `allowed-tools` of skills, as a limit: it takes tools from a turn and gives it none. */
import { parse } from "yaml";
import { z } from "zod";
import { splitSkill } from "./skill-file.ts";

/** A space- or comma-separated text, or a list. */
export const allowedToolsField = z.union([
  z.string().max(2_000),
  z.array(z.string().max(200)).max(100),
]);
const head = z.looseObject({ "allowed-tools": allowedToolsField.optional() });

/** The YAML parser takes quadratic time. */
const MAX_HEAD_CHARS = 8_192;

/** Names that other agents have for tools of this one. */
const ALIASES: Readonly<Record<string, string>> = {
  multiedit: "edit",
  webfetch: "fetch",
  websearch: "web_search",
  agent: "task",
  todowrite: "todo",
  askuserquestion: "ask_user_question",
};

/** Returns the names in a SKILL.md, as this agent spells them; null where it names none. */
export function allowedToolsIn(text: string): readonly string[] | null {
  const { head: given } = splitSkill(text);
  if (!given.includes("allowed-tools") || given.length > MAX_HEAD_CHARS) return null;
  try {
    const field = head.parse(parse(given, { maxAliasCount: 0, prettyErrors: false }));
    const names = [field["allowed-tools"] ?? []]
      .flat()
      // `Bash(git:*)` is a rule about commands, which the sandbox does not know.
      .flatMap((listed) => listed.replace(/\([^()]*\)/g, " ").split(/[\s,]+/))
      .filter(Boolean)
      .map((name) => name.toLowerCase());
    return names.length > 0 ? names.map((name) => ALIASES[name] ?? name) : null;
  } catch {
    return null;
  }
}
