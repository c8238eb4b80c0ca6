/** The cases in `evals` can be parsed, and the API accepts their requests. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { check } from "@platform/endpoint/contract/checks";
import { runOptions } from "@platform/endpoint/contract/run-options";
import { RE2JS } from "re2js";
import { expect, it } from "vitest";
import { z } from "zod";
import { startRunContract } from "../../lib/turns/run-contract.ts";
import { readCases } from "../../packages/client/src/cli/eval/cases.ts";

const FOLDER = join(import.meta.dirname, "../../evals");
const MAX_BYTES = 300_000;

const caseFile = z.strictObject({
  prompt: z.string().min(1),
  checks: z.array(check),
  figures: z.array(z.string().regex(/^-?(?:\d{1,3}(?:,\d{3})*|\d+)(?:\.\d+)?$/)).optional(),
  options: runOptions.partial().strict().optional(),
});

it("are 30 small ones that a run can be started with", async () => {
  const cases = await readCases(FOLDER);
  expect(cases).toHaveLength(30);
  expect(new Set(cases.map(({ prompt }) => prompt)).size).toBe(30);
  let bytes = 0;
  for (const { name, prompt, body } of cases) {
    const { checks, figures = [] } = caseFile.parse(
      JSON.parse(await readFile(join(FOLDER, name, "case.json"), "utf8")),
    );
    const patterns = checks.flatMap((one) => (one.type === "answer_matches" ? [one.pattern] : []));
    for (const pattern of patterns) RE2JS.compile(pattern);
    const started = startRunContract.body?.parse(await body());
    expect(started, name).toMatchObject({ outcome: { max_iterations: 1 } });
    expect(started?.outcome?.checks, name).toHaveLength(checks.length + figures.length);
    const entries = await readdir(join(FOLDER, name), { recursive: true });
    const paths = entries.map((entry) => join(FOLDER, name, entry));
    for (const path of paths) bytes += (await stat(path)).isFile() ? (await stat(path)).size : 0;
    // Each file that the prompt names is there, under the name that it has in the sandbox.
    const given = entries
      .filter((entry) => entry.startsWith("files/"))
      .map((path) => basename(path));
    expect(new Set(given).size, name).toBe(given.length);
    const written = JSON.stringify(checks);
    for (const [file] of prompt.matchAll(/(?<![\w/])[\w-]+\.(?:csv|txt|xml)\b/g)) {
      expect(given.includes(file) || written.includes(file), `${name}: ${file}`).toBe(true);
    }
  }
  expect(bytes).toBeLessThan(MAX_BYTES);
});
