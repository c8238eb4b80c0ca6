/** Each script of the built-in skills gives the same report in every sandbox. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isolation } from "@platform/kit/isolation/isolation";
import { createLocalProvider } from "@platform/sandbox/local";
import type { Sandbox, SandboxProvider } from "@platform/sandbox/port";
import { createSystemProvider } from "@platform/sandbox/system";
import { createVercelProvider } from "@platform/sandbox/vercel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeVercel, startFakeVercel } from "../../../tests/support/fakes/vercel-sandbox.ts";
import { builtInFiles, builtInSkills } from "../src/built-in-skills.ts";
import { contentOf, loadedPath } from "../src/skill.ts";

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

const FIXTURES = "tests/support/fixtures/skills";
const OPTIONS = { timeoutMs: 60_000, maxOutputChars: 1_000_000 };
const DEAL = {
  deal: "royalty",
  currency: "EUR",
  rate: "50",
  fees: ["10", "20"],
  projects: [
    {
      name: "Tidewater",
      opening_balance: "-500",
      entries: [
        { date: "2026-03-31", kind: "income", amount: "10000" },
        { date: "2026-01-10", kind: "advance", amount: "1000" },
      ],
    },
  ],
};

/** One run of every script, and its main figures; the tests of each skill explain how they come about. */
const RUNS: readonly (readonly [skill: string, command: string, figures: object])[] = [
  [
    "royalty-statement",
    "analyze_statement.py < distrokid.tsv",
    { currencies: { USD: { net: "324.29", rows: 30, unmatched: { rows: 1 } } } },
  ],
  // 10,000 x 0.9 x 0.8 x 50 % = 3,600, less 500 and 1,000.
  ["royalty-statement", "recoup.py < deal.json", { payable: "2100.00" }],
  [
    "catalog-audit",
    "audit_catalog.py < catalog.csv",
    { rows: 11, complete_rows: 8, findings: { shares_rounded: { listed: [{ total: "99.90" }] } } },
  ],
  [
    "contract-review",
    "find_clauses.py < recording-agreement.txt",
    { pages: 5, clauses: { options: { candidates: [{ page: 1, line: 5, clause: "1.2" }] } } },
  ],
  [
    "metadata-check",
    "check_metadata.py < release.json",
    { counts: { error: 16, warning: 11, hint: 3 } },
  ],
  [
    "release-plan",
    "plan_release.py --release 2027-04-09 --today 2027-03-31 --holidays holidays.csv --territories DE,GB,FR < tasks.csv",
    { earliest_release: { keeping_required: "2027-04-30", keeping_all: "2027-05-07" } },
  ],
  [
    "setlist",
    "check_setlist.py --event event.json --today 2026-11-25 --society PRS < works.csv",
    { works_seconds: 4620, deadlines: [{ plan_for: "2027-08-31", days_left: 279 }] },
  ],
  [
    "split-sheet",
    "check_splits.py --against registration.csv --amount 100.01 --currency EUR < night-bus.csv",
    { payment: { payees: [{ amount: "33.35" }, { amount: "33.33" }, { amount: "33.33" }] } },
  ],
  [
    "tour-budget",
    "budget_tour.py --plan plan.json < shows.csv",
    { total: { fees: "14357.34", result: "3861.69" }, by_currency: { GBP: { fees: "7175.00" } } },
  ],
];

async function load(sandbox: Sandbox, name: string): Promise<string[]> {
  const files = await builtInFiles(name, async () => ({}));
  for (const file of files) {
    await sandbox.writeFile(loadedPath(name, file.path), contentOf(file));
  }
  const folder = join(FIXTURES, name);
  for (const fixture of existsSync(folder) ? readdirSync(folder) : []) {
    await sandbox.writeFile(fixture, readFileSync(join(folder, fixture)));
  }
  return files
    .filter(({ text }) => text?.includes("\nrun(main)") || text?.includes("__main__"))
    .map(({ path }) => path.replace("scripts/", `${name} `));
}

/** The reports of the first sandbox, with which the other ones are compared as a whole. */
let reports: readonly string[] | undefined;

for (const [name, isThere, create] of providers) {
  test.runIf(isThere)(`in the ${name} sandbox`, async () => {
    const provider = create();
    const state = await provider.provision(randomUUID(), account);
    const sandbox = provider.open(state, account);
    await sandbox.writeFile("deal.json", Buffer.from(JSON.stringify(DEAL)));
    const scripts: string[] = [];
    for (const skill of builtInSkills()) scripts.push(...(await load(sandbox, skill.name)));
    const names = RUNS.map(([skill, command]) => `${skill} ${command.split(" ", 1)[0]}`);
    expect(names.toSorted()).toEqual(scripts.toSorted());
    const found: string[] = [];
    for (const [skill, command, figures] of RUNS) {
      const script = loadedPath(skill, `scripts/${command}`);
      const { stdout, stderr, exitCode } = await sandbox.run(`python3 ${script}`, OPTIONS);
      expect({ command, stderr, exitCode }).toEqual({ command, stderr: "", exitCode: 0 });
      expect(JSON.parse(stdout)).toMatchObject(figures);
      found.push(stdout);
    }
    reports ??= found;
    expect(found).toEqual(reports);
    await provider.destroy(state);
  });
}
