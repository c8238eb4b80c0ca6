import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { freePort, nextEnv } from "../../lib/launch/run-next.ts";
import { familyOf, stillRunning } from "./processes.ts";

type Copy = {
  npm: ChildProcess;
  url: string;
  output(): string;
  /** The key it printed, once it is ready. */
  key(): Promise<string>;
  exit: Promise<number | null>;
};

// Each starts whole copies, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

let folders: string[] = [];
let copies: Copy[] = [];

beforeEach(() => {
  folders = [];
  copies = [];
});

afterEach(async () => {
  for (const { npm, exit } of copies) {
    if (npm.exitCode === null && npm.signalCode === null) interrupt(npm);
    await exit;
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "launcher-"));
  folders.push(folder);
  return folder;
}

/** `npm start`, as a person types it. */
async function npmStart(dataDir: string): Promise<Copy> {
  const port = await freePort();
  const { distDir } = inject("stack");
  const npm = spawn("npm", ["start"], {
    cwd: join(import.meta.dirname, "../.."),
    detached: true,
    env: nextEnv(
      { PORT: String(port), DATA_DIR: dataDir, NEXT_DIST_DIR: distDir, LOG_LEVEL: "error" },
      "start",
    ),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  npm.stdout?.on("data", (piece: Buffer) => {
    output += piece;
  });
  npm.stderr?.on("data", (piece: Buffer) => {
    output += piece;
  });
  const copy: Copy = {
    npm,
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    exit: new Promise((resolve) => npm.once("exit", resolve)),
    key: () =>
      vi.waitFor(
        () => {
          expect(output).toContain("Stream a turn");
          return /\bap_[0-9A-Za-z]{49}\b/.exec(output)?.[0] ?? "";
        },
        { timeout: 90_000, interval: 100 },
      ),
  };
  copies.push(copy);
  return copy;
}

/** Ctrl-C: the terminal signals the whole foreground group. */
function interrupt(npm: ChildProcess): void {
  if (npm.pid !== undefined) process.kill(-npm.pid, "SIGINT");
}

async function createSession(copy: Copy, key: string, title: string): Promise<string> {
  const response = await fetch(`${copy.url}/api/sessions`, {
    method: "POST",
    headers: { "x-api-key": key },
    body: JSON.stringify({ title }),
  });
  expect(response.status).toBe(201);
  const { session } = await response.json();
  return session.id;
}

test("Ctrl-C ends every process, and the next start has the same key and data", async () => {
  const dataDir = newFolder();
  const first = await npmStart(dataDir);
  const key = await first.key();
  const session = await createSession(first, key, "Kept");
  const family = familyOf(first.npm.pid ?? 0);
  // npm, launcher, supervisor, PostgreSQL and its helpers, REST server, application, guards.
  expect(family.length).toBeGreaterThan(9);
  interrupt(first.npm);
  await first.exit;
  await vi.waitFor(() => expect(stillRunning(family)).toEqual([]), { timeout: 15_000 });

  const second = await npmStart(dataDir);
  expect(await second.key()).toBe(key);
  const response = await fetch(`${second.url}/api/sessions/${session}`, {
    headers: { "x-api-key": key },
  });
  expect((await response.json()).session.title).toBe("Kept");
});

test("the printed line streams a turn as it stands", async () => {
  const copy = await npmStart(newFolder());
  await copy.key();
  const line = /^curl -N .*$/m.exec(copy.output())?.[0] ?? "";
  const arg = (name: string) => new RegExp(`${name} '([^']*)'`).exec(line)?.[1] ?? "";
  // Not every machine has curl: the line's parts go out by fetch.
  const [header = "", value = ""] = arg("-H").split(": ");
  const body = /-d '(.*)'$/.exec(line)?.[1]?.replace("'$(date +%s)'", String(Date.now())) ?? "";
  const response = await fetch(/http:\S+/.exec(line)?.[0] ?? "", {
    method: "POST",
    headers: { [header]: value, "content-type": "application/json" },
    body,
  });
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain('"type":"text-delta"');
  expect(text.trimEnd()).toMatch(/data: \[DONE\]$/);
});

test("two copies run side by side, a third on the data of one is refused, and no one's crash hurts another", async () => {
  const dataDir = newFolder();
  const [one, two] = await Promise.all([npmStart(dataDir), npmStart(newFolder())]);
  const [keyOfOne, keyOfTwo] = await Promise.all([one.key(), two.key()]);
  expect(keyOfOne).not.toBe(keyOfTwo);
  await createSession(one, keyOfOne, "One");
  const foreign = await fetch(`${two.url}/api/sessions`, { headers: { "x-api-key": keyOfOne } });
  expect(foreign.status).toBe(401);

  const third = await npmStart(dataDir);
  expect(await third.exit).toBe(1);
  expect(third.output()).toContain(`is running with the data in ${dataDir}`);

  const family = familyOf(one.npm.pid ?? 0);
  for (const pid of familyOf(one.npm.pid ?? 0).slice(0, 4)) process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(stillRunning(family)).toEqual([]), { timeout: 15_000 });
  await createSession(two, keyOfTwo, "Two");
});
