import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { Sandbox } from "../../sandbox/port.ts";
import { COMMAND_DEADLINE_MS, cut, MAX_OUTPUT_CHARS } from "./limits.ts";
import {
  insertArguments,
  MAX_HEAD_BYTES,
  MAX_HEAD_LINES,
  MAX_SKILL_BYTES,
  readSkillHead,
  splitSkill,
} from "./skill-file.ts";
import { agentTool, toolFailure } from "./tool.ts";

/** Folders below the sandbox's home, including other agents' folders. The first match wins. */
const FOLDERS = [".agents/skills", ".claude/skills", ".skills", "skills"];
const LIST = "list";
const MAX_SKILLS = 500;
const MAX_ARGUMENT_CHARS = 10_000;
/** The limit for the names that the answer to an unknown skill lists. */
const MAX_NAMES_CHARS = 2_000;
/** The ASCII unit separator, which no path and no relevant line starts with. */
const SEPARATOR = "\x1f";

interface Skill {
  readonly name: string;
  readonly description: string;
  readonly path: string;
}

export const skill = agentTool({
  name: "skill",
  description: `List or load skills: instructions kept in the sandbox as SKILL.md files, below ${FOLDERS.join(", ")}.
- skill "${LIST}" gives {skills: [{name, description, path}]}.
- A name loads that skill: {skill, path, instructions}. Follow the instructions; files they mention are relative to the folder of path.
- args are put where the skill says $ARGUMENTS ($1, $2, … for single words), or after its text.`,
  input: z.object({
    skill: z.string().min(1).max(1_000).describe(`Name of the skill, or "${LIST}"`),
    args: z
      .string()
      .max(MAX_ARGUMENT_CHARS)
      .optional()
      .describe("What the skill is to be applied to"),
  }),
  async execute({ skill: name, args }, context) {
    const skills = await listSkills(context.sandbox, context.signal);
    const found = skills.find((candidate) => candidate.name === name);
    if (!found && name === LIST) return { skills: skills.map((known) => ({ ...known })) };
    if (!found) {
      const names = skills.map((known) => known.name).join(", ");
      const known = cut(names, MAX_NAMES_CHARS).text || "none";
      return toolFailure(`There is no skill "${cut(name, 100).text}". Skills: ${known}`);
    }
    const bytes = await context.sandbox.readFile(found.path);
    const text = new TextDecoder().decode(bytes.subarray(0, MAX_SKILL_BYTES));
    const { text: instructions, truncated } = cut(insertArguments(splitSkill(text).body, args));
    return {
      skill: found.name,
      path: found.path,
      instructions,
      ...(truncated ? { truncated } : {}),
    };
  },
});

/** Lists all skills with one command, because every command is a round trip to a remote sandbox. */
async function listSkills(sandbox: Sandbox, signal: AbortSignal): Promise<Skill[]> {
  const files = FOLDERS.map((folder) => `${folder}/*/SKILL.md`).join(" ");
  const { stdout } = await sandbox.run(
    `for f in ${files}; do if [ -f "$f" ]; then printf '\\037%s\\n' "$f"; head -n ${MAX_HEAD_LINES} "$f" | head -c ${MAX_HEAD_BYTES}; echo; fi; done`,
    { timeoutMs: COMMAND_DEADLINE_MS, maxOutputChars: 4 * MAX_OUTPUT_CHARS, signal },
  );
  const skills = new Map<string, Skill>();
  for (const entry of stdout.split(SEPARATOR).slice(1, 1 + MAX_SKILLS)) {
    // Yields to other requests after every file.
    await setImmediate();
    const end = entry.indexOf("\n");
    const path = entry.slice(0, end);
    const { name = path.split("/").at(-2) ?? path, description = "" } = readSkillHead(
      entry.slice(end + 1),
    );
    if (!skills.has(name)) skills.set(name, { name, description, path });
  }
  return [...skills.values()];
}
