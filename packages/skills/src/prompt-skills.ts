/** The instructions of a turn about skills. */
import { cutOutput, MAX_OUTPUT_CHARS } from "@platform/sandbox/cut-output";
import { z } from "zod";
import { allowedToolsIn } from "./allowed-tools.ts";
import { builtInSkills } from "./built-in-skills.ts";
import { loadedPath } from "./skill.ts";
import { listedDescription, splitSkill } from "./skill-file.ts";

const MAX_LIST_CHARS = 8_000;

/** The stored skills of a turn, as `skills_of_turn` in SQL returns them. */
export const turnSkills = z.object({
  listed: z.array(z.object({ name: z.string(), description: z.string() })).default([]),
  disabled: z.array(z.string()).default([]),
  loaded: z.array(z.object({ name: z.string(), text: z.string() })).default([]),
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

/** Returns the built-in skill that a turn can use under a name, unless a stored one takes its place. */
const usableBuiltIn = (skills: TurnSkills, name: string) =>
  skills.disabled.includes(name) || skills.loaded.some((loaded) => loaded.name === name)
    ? undefined
    : builtInSkills().find((known) => known.name === name);

/** Returns the names of the built-in skills that a turn loads at its start. */
export const builtInsToLoad = (skills: TurnSkills, names: readonly string[] = []): string[] =>
  names.filter((name) => usableBuiltIn(skills, name) !== undefined);

/** @param names of the skills to load at the start, in order */
export function describeSkills(skills: TurnSkills, names: readonly string[] = []): string {
  const lines: string[] = [];
  let chars = 0;
  const all = listSkills(skills);
  for (const { name, description } of all) {
    const line = `- ${name}: ${listedDescription(description)}`;
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

/** A turn has one object of its skills, and asks before each model call and each tool. */
const limitsOfTurns = new WeakMap<TurnSkills, readonly (readonly string[])[]>();

/**
 * Returns the tools to which each of the skills that a turn starts with limits it. A skill that is loaded later
 * limits nothing, because other tools would change the beginning of the prompt, which is cached.
 */
export function toolLimits(
  skills: TurnSkills,
  names: readonly string[] = [],
): readonly (readonly string[])[] {
  const known = limitsOfTurns.get(skills);
  if (known) return known;
  const limits = names.flatMap((name) => {
    const stored = skills.loaded.find((loaded) => loaded.name === name);
    const allowed = allowedToolsIn(stored?.text ?? usableBuiltIn(skills, name)?.text ?? "");
    return allowed ? [allowed] : [];
  });
  limitsOfTurns.set(skills, limits);
  return limits;
}

function loadedText(skills: TurnSkills, name: string): string {
  const stored = skills.loaded.find((loaded) => loaded.name === name);
  const builtIn = usableBuiltIn(skills, name);
  const text = stored?.text ?? builtIn?.text;
  if (text === undefined) {
    return builtIn
      ? `Load the skill ${name} with the skill tool before you start, and follow it.`
      : `The skill ${name}, which this work is to follow, is not available: say so.`;
  }
  return `The skill ${name} is loaded: follow it. The files it mentions are in ${loadedPath(name, "")}\n\n${cutOutput(splitSkill(text).body.trim(), MAX_OUTPUT_CHARS)}`;
}
