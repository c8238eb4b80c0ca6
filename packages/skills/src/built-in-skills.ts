/** The built-in skills: the folders in `built-in`, and `platform-api`, which is made from the contracts. */
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { runtimePath } from "@platform/kit/runtime-path";
import { SKILL_FILE, type SkillFile, skillFile } from "./skill.ts";
import { readSkillHead } from "./skill-file.ts";

export interface BuiltInSkill {
  readonly name: string;
  readonly description: string;
  /** The text of its SKILL.md; absent for the one that is made when it is loaded. */
  readonly text?: string;
}

/** The skill that describes this service's API to its own agent. */
const PLATFORM_API = "platform-api";
const PLATFORM_API_DESCRIPTION =
  "Call this service's own API from the sandbox: which endpoints a run may use, with their fields and a curl line each. Use it to read or change chats, artists, templates, tasks, files, images and videos of the account.";

const folderOf = (): string => runtimePath(process.cwd(), "packages", "skills", "built-in");

let known: readonly BuiltInSkill[] | undefined;

/** Returns the built-in skills by name. They are read once, as they change only with the service. */
export function builtInSkills(): readonly BuiltInSkill[] {
  known ??= readSkills();
  return known;
}

function readSkills(): BuiltInSkill[] {
  const entries = readdirSync(folderOf(), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  const skills = folders.map(({ name }): BuiltInSkill => {
    const text = readFileSync(join(folderOf(), name, SKILL_FILE), "utf8");
    return { name, description: readSkillHead(text).description ?? "", text };
  });
  skills.push({ name: PLATFORM_API, description: PLATFORM_API_DESCRIPTION });
  return skills.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Reads the files of a built-in skill. @param describeApi returns the texts of `platform-api` by path */
export async function builtInFiles(
  name: string,
  describeApi: () => Promise<Readonly<Record<string, string>>>,
): Promise<SkillFile[]> {
  if (name === PLATFORM_API) {
    const texts = Object.entries(await describeApi());
    return texts.map(([path, text]) => skillFile(path, Buffer.from(text)));
  }
  const folder = join(folderOf(), name);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"))
    .map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(
    paths.map(async (path) =>
      skillFile(relative(folder, path).split(sep).join("/"), await readFile(path)),
    ),
  );
  if (!files.some(({ text }) => text && /^from table import /m.test(text))) return files;
  return [...files, skillFile("scripts/table.py", await readFile(join(folderOf(), "table.py")))];
}
