import { setImmediate } from "node:timers/promises";
import type { Sandbox } from "@platform/sandbox/port";
import { contentOf, type LoadedSkill, loadedPath, SKILL_FILE } from "@platform/skills/skill";
import {
  insertArguments,
  listedDescription,
  MAX_HEAD_BYTES,
  MAX_HEAD_LINES,
  MAX_SKILL_TEXT_BYTES,
  readSkillHead,
  splitSkill,
} from "@platform/skills/skill-file";
import { z } from "zod";
import { COMMAND_DEADLINE_MS, cut, MAX_OUTPUT_CHARS, MAX_PATH_CHARS } from "./limits.ts";
import { agentTool, type ToolContext, toolFailure } from "./tool.ts";

/** Folders below the sandbox's home, including other agents' folders. The first match wins. */
const FOLDERS = [".agents/skills", ".claude/skills", ".skills", "skills"];
const LIST = "list";
/** With a note of where to read on, a text is no longer than any other output. */
const MAX_TEXT_CHARS = MAX_OUTPUT_CHARS - MAX_PATH_CHARS - 100;
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
  description: `List or load skills: instructions with scripts for a kind of work. They come with the service, from the account and its organizations, and from SKILL.md files in the sandbox, below ${FOLDERS.join(", ")}, which go first.
- skill "${LIST}" gives {skills: [{name, description}]}, with the path of those in the sandbox.
- A name loads that skill and writes its files into the sandbox: {skill, path, instructions}. Follow the instructions; files they mention are relative to the folder of path.
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
    const { sandbox, skills: library } = context;
    const inSandbox = await listSandboxSkills(sandbox, context.signal);
    const found = inSandbox.find((candidate) => candidate.name === name);
    if (!found && name === LIST) return { skills: await listAll(inSandbox, context) };
    if (found) {
      const bytes = await sandbox.readFile(found.path);
      await library.recordFromSandbox(found.name);
      const text = new TextDecoder().decode(bytes.subarray(0, MAX_SKILL_TEXT_BYTES));
      return describe(found.name, found.path, text, args);
    }
    const loaded = await library.load(name);
    if (!loaded) {
      const names = (await listAll(inSandbox, context)).map((known) => known.name).join(", ");
      return toolFailure(
        `There is no skill "${cut(name, 100).text}". Skills: ${cut(names, MAX_NAMES_CHARS).text}`,
      );
    }
    if (loaded.isForeign) context.addSources({ kind: "skill", name });
    await writeSkill(sandbox, loaded);
    const text = loaded.files.find(({ path }) => path === SKILL_FILE)?.text ?? "";
    const { source, version } = loaded;
    const origin = { source, ...(version !== null && { version }) };
    return { ...describe(name, loadedPath(name), text, args), ...origin };
  },
});

function describe(name: string, path: string, text: string, args: string | undefined) {
  const { body } = splitSkill(text);
  const isLong = body.length > MAX_TEXT_CHARS;
  const end = body.lastIndexOf("\n", MAX_TEXT_CHARS) + 1 || MAX_TEXT_CHARS;
  const start = isLong ? body.slice(0, end) : body;
  const next = text.slice(0, text.length - body.length + start.length).split("\n").length;
  const note = isLong ? `[This is a part. Read on with read: ${path}, offset ${next}]\n\n` : "";
  const { text: filled, truncated } = cut(insertArguments(start, args), MAX_TEXT_CHARS);
  const isCut = isLong || truncated;
  return { skill: name, path, instructions: note + filled, ...(isCut && { truncated: true }) };
}

async function listAll(inSandbox: readonly Skill[], { skills }: ToolContext) {
  const known = new Map<string, { name: string; description: string; path?: string }>(
    inSandbox.map((found) => [found.name, { ...found }]),
  );
  for (const skill of await skills.list()) if (!known.has(skill.name)) known.set(skill.name, skill);
  return [...known.values()].map((skill) => ({
    ...skill,
    description: listedDescription(skill.description),
  }));
}

/** Writes the files of a skill into its folder in the sandbox. Throws a SandboxError. */
export async function writeSkill(sandbox: Sandbox, { name, files }: LoadedSkill): Promise<void> {
  for (const file of files) await sandbox.writeFile(loadedPath(name, file.path), contentOf(file));
}

/** Lists the skills of the sandbox with one command, because every command is a round trip to a remote sandbox. */
async function listSandboxSkills(sandbox: Sandbox, signal: AbortSignal): Promise<Skill[]> {
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
