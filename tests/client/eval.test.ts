/** The command `eval run` and `eval compare`, against the embedded model. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { runEval } from "../support/harness/eval-command.ts";
import { stack } from "../support/harness/stack.ts";

let person: Person;
let folder: string;
beforeAll(async () => {
  person = await createPerson();
  folder = await mkdtemp(join(tmpdir(), "eval-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function writeCases(name: string, cases: Readonly<Record<string, object>>): Promise<string> {
  for (const [one, content] of Object.entries(cases)) {
    await mkdir(join(folder, name, one, "files"), { recursive: true });
    await writeFile(join(folder, name, one, "case.json"), JSON.stringify(content));
    await writeFile(join(folder, name, one, "files/note.txt"), "1.234,50\n");
  }
  return join(folder, name);
}

const run = (args: readonly string[], options = {}, signal?: AbortSignal) =>
  runEval({ baseUrl: stack.url, apiKey: person.key }, args, options, signal);

it("runs each case, also after one that cannot start, and compares the results of two runs", async () => {
  const cases = await writeCases("cases", {
    counts: { prompt: "count to 3", checks: [], figures: ["3"] },
    files: {
      prompt: "run `cat uploads/note.txt`",
      checks: [{ type: "tool_called", tool: "bash" }],
      figures: ["1,234.50"],
    },
    misses: { prompt: "count to 3", checks: [{ type: "answer_contains", text: "four" }] },
    unknown: { prompt: "count to 3", checks: [{ type: "answer_sings" }] },
  });
  const file = join(folder, "all.json");
  const first = await run(["run", cases], { "min-score": "0.6", out: file });
  expect(first.code).toBe(1);
  const passed = (results: readonly { case: string; passed: boolean }[]) =>
    Object.fromEntries(results.map((result) => [result.case, result.passed]));
  const { score, cases: stored } = JSON.parse(await readFile(file, "utf8"));
  expect(score).toBe(0.5);
  expect(passed(stored)).toEqual({ counts: true, files: true, misses: false, unknown: false });
  expect(first.printed).toContain("misses: The answer must contain: four");
  expect(first.printed.find((line) => line.startsWith("unknown: "))).toMatch(/checks/);
  expect(first.printed.find((line) => line.startsWith("total"))).toMatch(/^total +2 of 4 +0\.0000/);

  const later = join(folder, "some.json");
  const second = await run(["run", cases], { case: ["counts"], "min-score": "1", out: later });
  expect(second.code).toBe(0);
  const compared = await run(["compare", file, later]);
  expect(compared.printed.find((line) => line.startsWith("misses"))).toContain("no → none");
  expect(compared.printed.at(-1)).toContain("2 of 4 → 1 of 1");
});

it("cancels its runs when it is interrupted, and keeps the results of the cases before", async () => {
  const cases = await writeCases("long", {
    long: { prompt: "run `sleep 100`", figures: ["1"] },
  });
  const interrupted = new AbortController();
  const file = join(folder, "interrupted.json");
  const ended = run(["run", cases], { out: file }, interrupted.signal).catch((error) => error);
  const runs = async () => Object((await person.withKey.get("/api/chat/runs?limit=1")).body).runs;
  await expect.poll(async () => (await runs())[0]?.status).toBe("running");
  interrupted.abort(new Error("Interrupted"));
  expect(await ended).toBe(interrupted.signal.reason);
  await expect.poll(async () => (await runs())[0]?.status).toBe("cancelled");
  expect(JSON.parse(await readFile(file, "utf8")).cases).toEqual([]);
});

it("reads no folder without cases", async () => {
  await expect(run(["run", folder])).rejects.toThrow("has no folder with a case.json");
  await expect(run(["run", folder], { case: ["none"] })).rejects.toThrow("cannot be read");
  await expect(run(["run", folder], { "min-score": "2" })).rejects.toThrow("--min-score");
  await expect(run(["sing"])).rejects.toThrow("eval takes");
});
