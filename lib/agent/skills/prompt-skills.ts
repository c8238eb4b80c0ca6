/** What the instructions of a turn say about skills. */
import { z } from "zod";
import { cut } from "../tools/limits.ts";
import { splitSkill } from "../tools/skill-file.ts";
import { builtInSkills } from "./built-in-skills.ts";
import { loadedPath, SKILL_SOURCES } from "./skill.ts";

const MAX_LIST_CHARS = 8_000;

/** The stored skills of a turn, as `skills_of_turn` in SQL returns them. */
export const turnSkills = z.object({
  listed: z.array(z.object({ name: z.string(), description: z.string() })).default([]),
  disabled: z.array(z.string()).default([]),
  loaded: z
    .array(
      z.object({
        name: z.string(),
        source: z.enum(SKILL_SOURCES),
        version: z.number().nullable().default(null),
        text: z.string(),
      }),
    )
    .default([]),
});
export type TurnSkills = z.output<typeof turnSkills>;

/** Returns the skills that a turn can load, by name: stored ones in place of built-in ones. */
export function listSkills({ listed, disabled }: Pick<TurnSkills, "listed" | "disabled">) {
  const stored = new Set(listed.map(({ name }) => name));
  const builtIn = builtInSkills().filter(
    ({ name }) => !stored.has(name) && !disabled.includes(name),
  );
  return [...listed, ...builtIn]
    .map(({ name, description }) => ({ name, description }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the names of the built-in skills that a turn loads at its start. */
export const builtInsToLoad = (skills: TurnSkills, names: readonly string[] = []): string[] =>
  names.filter(
    (name) =>
      !skills.loaded.some((loaded) => loaded.name === name) &&
      !skills.disabled.includes(name) &&
      builtInSkills().some((known) => known.name === name),
  );

/** @param names of the skills to load at the start, in order */
export function describeSkills(skills: TurnSkills, names: readonly string[] = []): string {
  const lines: string[] = [];
  let chars = 0;
  const all = listSkills(skills);
  for (const { name, description } of all) {
    const line = `- ${name}: ${description.replace(/\s+/g, " ")}`;
    chars += line.length + 1;
    if (chars > MAX_LIST_CHARS) break;
    lines.push(line);
  }
  if (lines.length < all.length) lines.push('- More: the skill tool lists all with "list".');
  return [
    lines.length === 0
      ? ""
      : `Skills have instructions and scripts for work of the trade. When one fits the task, load it with the skill tool before you start, and follow it. The sandbox may have more.\n${lines.join("\n")}`,
    ...names.map((name) => loadedText(skills, name)),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function loadedText(skills: TurnSkills, name: string): string {
  const stored = skills.loaded.find((loaded) => loaded.name === name);
  const isBuiltIn = builtInsToLoad(skills, [name]).length > 0;
  const text =
    stored?.text ?? builtInSkills().find((known) => known.name === name && isBuiltIn)?.text;
  if (text === undefined) {
    return isBuiltIn
      ? `Load the skill ${name} with the skill tool before you start, and follow it.`
      : `The skill ${name}, which this work is to follow, is not available: say so.`;
  }
  return `The skill ${name} is loaded: follow it. The files it mentions are in ${loadedPath(name, "")}\n\n${cut(splitSkill(text).body.trim()).text}`;
}
