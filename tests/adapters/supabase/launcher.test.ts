import { platform } from "node:os";
import { afterAll, expect, test, vi } from "vitest";
import { client } from "../../support/harness/clients.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";
import {
  type Copy,
  endCopies,
  expectListensBeyondLoopback,
  interrupt,
  listens,
  makeKey,
  newDataDir,
  newFolder,
  npmRun,
  npmRunKey,
} from "./copies.ts";
import { familyOf, stillRunning } from "./processes.ts";

// Each starts whole copies, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 450_000, hookTimeout: 450_000 });

afterAll(endCopies);

const dataDir = newFolder();
/** Started by the first test, and used by the second one. */
let one: Copy;
let keyOfOne = "";

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

test("no key comes by itself; Ctrl-C ends every process; the next start has the keys and data, at HOST alone", async () => {
  const first = await npmRun("start", dataDir);
  await first.ready();
  await vi.waitFor(() => expect(first.output()).toContain("npm run key -- --email"), {
    timeout: 400_000,
  });
  expect(first.output()).not.toMatch(/\bap_[0-9A-Za-z]{49}\b/);
  expect(first.output()).toContain(`sign-in codes are in ${dataDir}/mailbox`);
  await expectListensBeyondLoopback(first, true);

  const wrong = await npmRunKey(dataDir, ["--email", "nobody"]);
  expect([wrong.exit, wrong.key]).toEqual([2, undefined]);
  expect(wrong.output).toContain("Usage: npm run key -- --email");

  const made = await npmRunKey(dataDir, ["--email", "Ada@example.com", "--name", "laptop"]);
  expect(made.exit, made.output).toBe(0);
  const headers = { "x-api-key": made.key ?? "" };
  const session = await createSession(first, made.key ?? "", "Kept");
  const { keys } = await (await fetch(`${first.url}/api/keys`, { headers })).json();
  expect(keys).toMatchObject([{ key_name: "laptop", expires_at: null }]);
  const another = { method: "POST", headers, body: JSON.stringify({ key_name: "kept" }) };
  const { key: kept } = await (await fetch(`${first.url}/api/keys`, another)).json();
  const revoked = await fetch(`${first.url}/api/keys/${keys[0].id}`, { method: "DELETE", headers });
  expect(revoked.status).toBe(200);

  const family = familyOf(first.npm.pid ?? 0);
  // npm, launcher, supervisor, PostgreSQL and its helpers, REST server, application, guards.
  expect(family.length).toBeGreaterThan(9);
  interrupt(first);
  await first.exit;
  await vi.waitFor(() => expect(stillRunning(family)).toEqual([]), { timeout: 60_000 });

  // Not running: the same command, the same account, another key.
  const offline = await npmRunKey(dataDir, ["--email", "ada@example.com"]);
  expect(offline.exit, offline.output).toBe(0);
  // On Linux alone, 127.0.0.2 stands for an address of this machine.
  const isLinux = platform() === "linux";
  one = await npmRun("start", dataDir, isLinux ? { HOST: "127.0.0.2" } : {});
  keyOfOne = offline.key ?? "";
  const output = await one.ready();
  expect(output).not.toContain("npm run key");
  const callerOf = (key: string | undefined) => client({ key: key ?? "" }, one.url);
  expect((await callerOf(made.key).get("/api/keys")).status).toBe(401);
  expect((await callerOf(kept).get("/api/keys")).status).toBe(200);
  const ada = callerOf(keyOfOne);
  expect((await ada.get(`/api/sessions/${session}`)).body).toMatchObject({
    session: { title: "Kept" },
  });
  if (isLinux) {
    expect(await listens("127.0.0.2", one.url)).toBe(true);
    expect(await listens("127.0.0.1", one.url)).toBe(false);
  }
  const run = await startRun(ada, { prompt: "Hello" });
  expect((await waitForRun(ada, run)).status).toBe("completed");
});

test("two copies run side by side, a third on the data of one is refused, and no one's crash hurts another", async () => {
  const otherDir = newDataDir();
  const two = await npmRun("start", otherDir, { WEB_CONCURRENCY: "1" });
  const keyOfTwo = await makeKey(two, otherDir);
  expect(keyOfOne).not.toBe(keyOfTwo);
  const foreign = await fetch(`${two.url}/api/sessions`, { headers: { "x-api-key": keyOfOne } });
  expect(foreign.status).toBe(401);

  const third = await npmRun("start", dataDir);
  expect(await third.exit).toBe(1);
  expect(third.output()).toContain(`is using the data in ${dataDir}`);
  await createSession(one, keyOfOne, "One");

  const family = familyOf(one.npm.pid ?? 0);
  for (const pid of family.slice(0, 4)) process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(stillRunning(family)).toEqual([]), { timeout: 60_000 });
  await createSession(two, keyOfTwo, "Two");
});
