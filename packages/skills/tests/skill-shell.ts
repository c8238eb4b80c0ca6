/** Runs the scripts of built-in skills with the Python of the embedded sandbox, so no machine needs its own. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { quoteForShell } from "@platform/agent/tools/limits";
import { createLocalProvider } from "@platform/sandbox/local";
import { builtInFiles } from "../src/built-in-skills.ts";
import { contentOf } from "../src/skill.ts";

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

/** All scripts of a test file run in the same sandbox, whose second Python starts in a tenth of a second. */
let opened: Promise<Awaited<ReturnType<typeof open>>> | undefined;

async function open() {
  const rootDir = mkdtempSync(join(tmpdir(), "skill-shell-"));
  process.once("exit", () => rmSync(rootDir, { recursive: true, force: true }));
  const provider = createLocalProvider({ rootDir, diskQuota: 512 * 1024 ** 2, allowedHosts: [] });
  const [session, account] = [randomUUID(), randomUUID()];
  const sandbox = provider.open(await provider.provision(session, account), account);
  return { sandbox, home: join(rootDir, session, "home") };
}

/** Runs `scripts/<script>` of a built-in skill. */
export async function runSkillScript(
  skill: string,
  script: string,
  { args = [], stdin = "", files = {} }: SkillRun = {},
): Promise<SkillResult> {
  opened ??= open();
  const { sandbox, home } = await opened;
  const folder = randomUUID();
  const own = await builtInFiles(skill, async () => ({}));
  const loaded = own.map((file) => [`skill/${file.path}`, contentOf(file)] as const);
  for (const [path, content] of [...loaded, ...Object.entries({ ...files, ".stdin": stdin })]) {
    mkdirSync(dirname(join(home, folder, path)), { recursive: true });
    writeFileSync(join(home, folder, path), content);
  }
  const words = [`skill/scripts/${script}`, ...args].map(quoteForShell);
  const { stdout, stderr, exitCode } = await sandbox.run(
    `cd ${folder} && python3 ${words.join(" ")} < .stdin`,
    { timeoutMs: 120_000, maxOutputChars: 50_000_000 },
  );
  rmSync(join(home, folder), { recursive: true, force: true });
  return { stdout, stderr, exitCode };
}
