/** `npm run dev`, started as a person starts it. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Copy, endCopies, expectListensBeyondLoopback, newFolder, npmRun } from "./copies.ts";

// It compiles each page on demand, which is slow on a busy machine.
vi.setConfig({ testTimeout: 450_000, hookTimeout: 450_000 });

let copy: Copy;
beforeAll(async () => {
  copy = await npmRun("dev", newFolder());
  await copy.key();
});
afterAll(endCopies);

test("it listens on this machine alone", () => expectListensBeyondLoopback(copy, false));

test("the printed line streams a turn as it stands", async () => {
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

test("it says how to sign in, where codes are, and that no AI answers", () => {
  const output = copy.output();
  expect(output).toMatch(/open http\S+ and continue as developer@example\.com/);
  expect(output).toMatch(/^Mail: +http/m);
  expect(output).toMatch(/^Model: .*not an AI.*AI_GATEWAY_API_KEY/m);
});
