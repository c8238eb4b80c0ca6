/**
 * Ten jobs with a scripted model, as cases of the client's evaluations, and the replay of their recordings.
 * `RECORD_EVALS=1` writes the recordings.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Recording } from "../../../packages/client/src/cli/eval/recording.ts";
import type { Result } from "../../../packages/client/src/cli/eval/results.ts";
import { freePort } from "../../../scripts/free-port.ts";
import { projectRoot } from "../../../scripts/project-root.ts";
import type { FakeOpenAI } from "../../support/fakes/openai.ts";
import { skillText } from "../../support/fixtures/skills.ts";
import { longSkill } from "../../support/fixtures/ten-jobs/data.ts";
import { jobs, subagents } from "../../support/fixtures/ten-jobs/jobs.ts";
import { nextFriday } from "../../support/fixtures/ten-jobs/play.ts";
import { createPerson, type Person } from "../../support/harness/clients.ts";
import { runEval } from "../../support/harness/eval-command.ts";
import { startServer } from "../../support/harness/server.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";

const RECORDINGS = join(projectRoot, "evals/recordings");

let workspace: SharedWorkspace;
let model: FakeOpenAI;
let person: Person;
let folder: string;
let cases: string;
beforeAll(async () => {
  workspace = await joinWorkspace();
  model = workspace.model;
  person = await createPerson(workspace.server.url);
  const files = { "SKILL.md": skillText("delivery-check", "", longSkill()) };
  const put = await person.withKey.request("PUT", "/api/skills/delivery-check", {
    body: { files },
  });
  expect(put.status, put.text).toBe(201);
  folder = await mkdtemp(join(tmpdir(), "ten-jobs-"));
  cases = join(folder, "cases");
  for (const [name, { prompt, checks, options, files: given = {}, script }] of Object.entries(
    jobs,
  )) {
    model.script(`ten-${name}`, script);
    await mkdir(join(cases, name, "files"), { recursive: true });
    await writeFile(join(cases, name, "case.json"), JSON.stringify({ prompt, checks, options }));
    for (const [file, content] of Object.entries(given)) {
      await writeFile(join(cases, name, "files", file), content);
    }
  }
  for (const [name, script] of Object.entries(subagents)) model.script(name, script);
});
afterAll(async () => {
  await workspace?.stop();
  await rm(folder, { recursive: true, force: true });
});

const command = (baseUrl: string, args: readonly string[], options: object) =>
  runEval({ baseUrl, apiKey: person.key }, args, { ...options });

it("do what their prompts say, with few calls", async () => {
  const recordings = join(folder, "recordings");
  const run = (names: readonly string[]) => {
    const out = join(folder, "results.json");
    const options = { case: [...names], record: recordings, out, "min-score": "1" };
    return command(workspace.server.url, ["run", cases], options);
  };
  // The memory is read in a later session.
  const first = await run(["memory-write"]);
  const others = await run(Object.keys(jobs).filter((name) => name !== "memory-write"));
  const results: Result[] = [...first.result.cases, ...others.result.cases];
  expect(results.filter(({ passed }) => !passed)).toEqual([]);
  expect([first.code, others.code]).toEqual([0, 0]);

  const stations = results.find((result) => result.case === "stations");
  expect(stations?.calls).toBe(35);
  const { messages = [] } = model.callsOf("ten-plan")[0] ?? {};
  const plan = JSON.parse(await readFile(join(recordings, "plan.json"), "utf8")) as Recording;
  expect(JSON.stringify(plan.works[0]?.steps.at(-1)?.answer)).toContain(nextFriday(messages));

  for (const { case: name, calls, run: ended } of results) {
    const tokens = ended?.usage.input_tokens ?? 0;
    console.log(`${name}: ${calls} calls, ${tokens} prompt tokens`);
    expect(tokens).toBeLessThan(400_000);
  }
  if (process.env.RECORD_EVALS !== "1") return;
  await cp(recordings, RECORDINGS, { recursive: true });
  for (const file of await readdir(RECORDINGS)) {
    const recording = JSON.parse(await readFile(join(RECORDINGS, file), "utf8"));
    recording.recorded = "from a scripted model, written by hand";
    await writeFile(join(RECORDINGS, file), `${JSON.stringify(recording, null, 1)}\n`);
  }
});

it("are replayed from their recordings, without a difference", async () => {
  const port = await freePort();
  const server = await startServer({ env: { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` } });
  try {
    const options = { cases, listen: String(port), strict: true };
    const { code, result } = await command(server.url, ["replay", RECORDINGS], options);
    const results: Result[] = result.cases;
    expect(results.flatMap(({ run, reasons }) => (run ? [] : reasons))).toEqual([]);
    expect(result.different).toEqual([]);
    expect(code).toBe(0);
  } finally {
    await server.stop();
  }
});
