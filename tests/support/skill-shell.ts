/** Runs the scripts of built-in skills with the Python of the embedded sandbox, so no machine needs its own. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Bash } from "just-bash";
import { projectRoot } from "../../scripts/project-root.ts";

export interface SkillResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

interface SkillRun {
  readonly args?: readonly string[];
  /** Bytes of standard input; text is encoded as UTF-8. */
  readonly stdin?: string | Uint8Array;
  /** Further files, by path relative to the working folder. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

const HOME = "/home/user";

/** Runs `scripts/<script>` of a built-in skill. Each call starts Python, which takes about 0.7 s. */
export async function runSkillScript(
  skill: string,
  script: string,
  { args = [], stdin = "", files = {} }: SkillRun = {},
): Promise<SkillResult> {
  const folder = join(projectRoot, "lib/agent/skills", skill);
  const all = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`${HOME}/${path}`, text]),
  );
  for (const path of globSync("**/*", { cwd: folder, withFileTypes: false })) {
    if (/\.\w+$/.test(path)) all[`${HOME}/skill/${path}`] = readFileSync(join(folder, path));
  }
  const shell = new Bash({
    python: true,
    cwd: HOME,
    files: { ...all, "/tmp/stdin": stdin },
    executionLimits: { maxPythonTimeoutMs: 120_000 },
  });
  const words = [`skill/scripts/${script}`, ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const { stdout, stderr, exitCode } = await shell.exec(`python3 ${words.join(" ")} < /tmp/stdin`);
  return { stdout, stderr, exitCode };
}
