import { execFileSync } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { endCopies, interrupt, newFolder, npmRun } from "../embedded/copies.ts";
import { familyOf, stillRunning } from "../embedded/processes.ts";

// Every endpoint is compiled when it is first asked, twice at once.
vi.setConfig({ testTimeout: 400_000, hookTimeout: 60_000 });

afterEach(endCopies);

function changedFiles(): string {
  return execFileSync("git", ["status", "--porcelain"], { encoding: "utf8" });
}

test("two development servers run from one folder, leave it unchanged and end with Ctrl-C", async () => {
  const before = changedFiles();
  const copies = await Promise.all([npmRun("dev", newFolder()), npmRun("dev", newFolder())]);
  const keys = await Promise.all(copies.map((copy) => copy.key()));
  for (const [i, copy] of copies.entries()) {
    const key = keys[i] ?? "";
    const answer = await fetch(`${copy.url}/api/sessions`, { headers: { "x-api-key": key } });
    expect(answer.status).toBe(200);
  }
  expect(changedFiles()).toBe(before);

  const families = copies.flatMap((copy) => familyOf(copy.npm.pid ?? 0));
  for (const copy of copies) interrupt(copy);
  await Promise.all(copies.map((copy) => copy.exit));
  await vi.waitFor(() => expect(stillRunning(families)).toEqual([]), { timeout: 15_000 });
});
