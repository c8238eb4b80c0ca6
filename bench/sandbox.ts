/**
 * The first command of an embedded sandbox, against the start of Node alone; and the cost of Python and SQLite,
 * against the shell alone: the time of a start, of a sum over a table, and the memory of the process.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { residentBytes } from "@platform/kit/isolation/child-process";
import { setBuiltPrograms } from "@platform/kit/isolation/program";
import { createLocalProvider } from "@platform/sandbox/local";
import { listConfined } from "../tests/support/harness/confined.ts";
import { type Bench, median, report, timed } from "./context.ts";

const STARTS = 15;
const SUMS = 5;
const ROWS = 50_000;

const SUM = `import csv, decimal, sys
print(sum(decimal.Decimal(row[2]) for row in csv.reader(sys.stdin)))`;

export const benchSandbox: Bench = async () => {
  setBuiltPrograms(join(process.env.NEXT_DIST_DIR || ".next", "programs"));
  const dir = await mkdtemp(join(tmpdir(), "bench-sandbox-"));
  const account = randomUUID();
  const sessionId = randomUUID();
  const options = { rootDir: dir, diskQuota: 256 * 1024 * 1024, allowedHosts: [] };
  const provider = createLocalProvider({ ...options, startsAhead: false });
  const state = await provider.provision(sessionId, account);
  const sandbox = provider.open(state, account);
  const limits = { timeoutMs: 60_000, maxOutputChars: 1_000 };
  const start = async (program: string) => {
    if (program === "node") {
      await promisify(execFile)(process.execPath, ["-e", ""]);
      return;
    }
    const fresh = await provider.provision(randomUUID(), account);
    await provider.open(fresh, account).run(":", limits);
    await provider.destroy(fresh);
  };
  const run = async (command: string) => {
    const result = await sandbox.run(command, limits);
    if (result.exitCode !== 0) throw new Error(result.stderr);
  };
  const memory = async () => {
    const [pid] = await listConfined("local/runner.", sessionId);
    return (await residentBytes(pid)) / 1024 / 1024;
  };
  try {
    const [opened, node] = await inTurns(STARTS, start, "sandbox", "node");
    report("the first command of a sandbox, and Node alone", "ms", opened, node);
    await run(":");
    const idle = await memory();
    const first = await timed(() => run("python3 -c pass"));
    const [python, empty] = await inTurns(STARTS, run, "python3 -c pass", ":");
    report("a start of Python, the first in a process", "ms", first, empty);
    report("a start of Python, the next", "ms", python, empty);
    report("the memory of the process after Python", "MiB", await memory(), idle);
    const [sqlite, none] = await inTurns(STARTS, run, "sqlite3 :memory: 'SELECT 1'", ":");
    report("a start of SQLite", "ms", sqlite, none);

    const rows = Array.from({ length: ROWS }, (_, n) => `${n},Track ${n},0.${n % 10}25\n`);
    await sandbox.writeFile("rows.csv", rows.join(""));
    await sandbox.writeFile("sum.py", SUM);
    await run("sqlite3 rows.db 'CREATE TABLE t(a, b, c)' '.import --csv rows.csv t'");
    const awk = "awk -F, '{ s += $3 } END { print s }' rows.csv";
    const [decimals, shell] = await inTurns(SUMS, run, "python3 sum.py < rows.csv", awk);
    report(`a sum of ${ROWS} decimals in Python, and of floats in awk`, "ms", decimals, shell);
    const [query, again] = await inTurns(SUMS, run, "sqlite3 rows.db 'SELECT sum(c) FROM t'", awk);
    report(`a sum of ${ROWS} rows in SQLite, and in awk`, "ms", query, again);
  } finally {
    await provider.destroy(state);
    await rm(dir, { recursive: true, force: true });
  }
};

/** Returns the median time of each command, in milliseconds. */
async function inTurns(
  times: number,
  run: (command: string) => Promise<void>,
  ...commands: readonly [string, string]
): Promise<[number, number]> {
  const took: [number[], number[]] = [[], []];
  for (let n = 0; n < times; n++) {
    took[0].push(await timed(() => run(commands[0])));
    took[1].push(await timed(() => run(commands[1])));
  }
  return [median(took[0]), median(took[1])];
}
