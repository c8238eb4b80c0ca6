import { afterEach, expect, test, vi } from "vitest";
import {
  type Copy,
  endCopies,
  expectListensBeyondLoopback,
  interrupt,
  makeKey,
  newDataDir,
  npmRun,
} from "./copies.ts";
import { familyOf, stillRunning } from "./processes.ts";

// Each starts whole copies, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 450_000, hookTimeout: 450_000 });

afterEach(endCopies);

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

test("Ctrl-C ends every process, and the next start has the same keys and data", async () => {
  const dataDir = newDataDir();
  const first = await npmRun("start", dataDir);
  const key = await makeKey(first, dataDir);
  expect(first.output()).toContain(`sign-in codes are in ${dataDir}/mailbox`);
  await expectListensBeyondLoopback(first, true);
  const session = await createSession(first, key, "Kept");
  const family = familyOf(first.npm.pid ?? 0);
  // npm, launcher, supervisor, PostgreSQL and its helpers, REST server, application, guards.
  expect(family.length).toBeGreaterThan(9);
  interrupt(first);
  await first.exit;
  await vi.waitFor(() => expect(stillRunning(family)).toEqual([]), { timeout: 60_000 });

  const second = await npmRun("start", dataDir);
  await second.ready();
  const response = await fetch(`${second.url}/api/sessions/${session}`, {
    headers: { "x-api-key": key },
  });
  expect((await response.json()).session.title).toBe("Kept");
});

test("two copies run side by side, a third on the data of one is refused, and no one's crash hurts another", async () => {
  const dataDir = newDataDir();
  const otherDir = newDataDir();
  const [one, two] = await Promise.all([npmRun("start", dataDir), npmRun("start", otherDir)]);
  const [keyOfOne, keyOfTwo] = await Promise.all([makeKey(one, dataDir), makeKey(two, otherDir)]);
  expect(keyOfOne).not.toBe(keyOfTwo);
  await createSession(one, keyOfOne, "One");
  const foreign = await fetch(`${two.url}/api/sessions`, { headers: { "x-api-key": keyOfOne } });
  expect(foreign.status).toBe(401);

  const third = await npmRun("start", dataDir);
  expect(await third.exit).toBe(1);
  expect(third.output()).toContain(`is using the data in ${dataDir}`);

  const family = familyOf(one.npm.pid ?? 0);
  for (const pid of familyOf(one.npm.pid ?? 0).slice(0, 4)) process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(stillRunning(family)).toEqual([]), { timeout: 60_000 });
  await createSession(two, keyOfTwo, "Two");
});
