/** The scripts of built-in skills give the same figures in every sandbox. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInFiles, builtInSkills } from "../../lib/agent/skills/built-in-skills.ts";
import { contentOf, loadedPath } from "../../lib/agent/skills/skill.ts";
import { isolation } from "../../lib/platform/isolation/isolation.ts";
import { createLocalProvider } from "../../lib/sandbox/adapters/local/provider.ts";
import { createSystemProvider } from "../../lib/sandbox/adapters/system/provider.ts";
import { createVercelProvider } from "../../lib/sandbox/adapters/vercel/provider.ts";
import type { Sandbox, SandboxProvider } from "../../lib/sandbox/port.ts";
import { type FakeVercel, startFakeVercel } from "../support/fakes/vercel-sandbox.ts";

const account = randomUUID();
let folder: string;
let vercel: FakeVercel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "skill-sandboxes-"));
  vercel = await startFakeVercel(join(folder, "vercel"));
});
afterAll(async () => {
  await vercel?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The fake of Vercel runs commands with this machine's programs, as the system sandbox does. */
function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const place = (name: string) => ({
  rootDir: join(folder, name),
  diskQuota: 64 * 1024 * 1024,
  allowedHosts: [],
});
const providers: readonly (readonly [string, boolean, () => SandboxProvider])[] = [
  ["local", true, () => createLocalProvider(place("local"))],
  [
    "system",
    isolation().kind === "namespaces" && hasPython(),
    () => createSystemProvider(place("system")),
  ],
  [
    "vercel",
    hasPython(),
    () => {
      const credentials = { token: "token", teamId: "team", projectId: "project" };
      return createVercelProvider({ credentials, allowedHosts: [], fetch: vercel.fetch });
    },
  ],
];

const STATEMENT = "tests/support/fixtures/skills/royalty-statement/distrokid.tsv";
const OPTIONS = { timeoutMs: 60_000, maxOutputChars: 100_000 };

async function load(sandbox: Sandbox, name: string): Promise<void> {
  for (const file of await builtInFiles(name, async () => ({}))) {
    await sandbox.writeFile(loadedPath(name, file.path), contentOf(file));
  }
}

for (const [name, isThere, create] of providers) {
  test.runIf(isThere)(`in the ${name} sandbox`, async () => {
    const provider = create();
    const state = await provider.provision(randomUUID(), account);
    const sandbox = provider.open(state, account);
    await sandbox.writeFile("statement.tsv", await readFile(STATEMENT));
    await load(sandbox, "royalty-statement");
    const script = loadedPath("royalty-statement", "scripts/analyze_statement.py");
    const analyzed = await sandbox.run(`python3 ${script} < statement.tsv`, OPTIONS);
    expect(analyzed).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(analyzed.stdout)).toMatchObject({
      source: { layout: "distrokid" },
      currencies: { USD: { net: "324.29", rows: 30, unmatched: { rows: 1 } } },
    });
    // Each script of every skill starts: an import that is missing would end it with a traceback.
    const scripts: string[] = [];
    for (const skill of builtInSkills().filter(({ text }) => text !== undefined)) {
      if (skill.name !== "royalty-statement") await load(sandbox, skill.name);
      const files = await builtInFiles(skill.name, async () => ({}));
      scripts.push(
        ...files
          .filter(({ text }) => text?.includes("\nrun(main)") || text?.includes("__main__"))
          .map(({ path }) => loadedPath(skill.name, path)),
      );
    }
    expect(scripts.length).toBeGreaterThanOrEqual(9);
    const help = await sandbox.run(
      `for f in ${scripts.join(" ")}; do python3 $f --help > /dev/null || echo "$f failed"; done`,
      OPTIONS,
    );
    expect(help).toMatchObject({ stdout: "", stderr: "" });
    await provider.destroy(state);
  });
}
