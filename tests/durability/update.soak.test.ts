/**
 * An earlier build and this one on one database: turns and waiting runs that the one has started are finished by the
 * other. `PREVIOUS_COMMIT` names the earlier build's commit; default: the newest one that is a day older than this.
 */
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../scripts/free-port.ts";
import { projectRoot } from "../../scripts/project-root.ts";
import { gate } from "../support/fakes/openai.ts";
import { openConversation } from "../support/harness/conversation.ts";
import {
  readRun,
  sendResults,
  startRun,
  waitForCalls,
  waitForRun,
} from "../support/harness/runs.ts";
import { expectCompleteTurn, textOf } from "../support/harness/turn-stream.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

const run = promisify(execFile);
const git = async (...args: string[]) =>
  (await run("git", args, { cwd: projectRoot })).stdout.trim();

let workspace: Workspace;
let earlier: string;
beforeAll(async () => {
  const committedAt = Number(await git("log", "-1", "--format=%ct"));
  const commit =
    process.env.PREVIOUS_COMMIT ??
    (await git("rev-list", "-1", `--before=${committedAt - 24 * 60 * 60}`, "HEAD"));
  earlier = await mkdtemp(join(tmpdir(), "earlier-build-"));
  await git("worktree", "add", "--detach", "--force", earlier, commit);
  await cp(join(projectRoot, "node_modules"), join(earlier, "node_modules"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await run(process.execPath, ["scripts/launch.mjs", "build"], {
    cwd: earlier,
    env: { ...process.env, NEXT_DIST_DIR: ".next" },
    maxBuffer: 2 ** 26,
  });
  workspace = await startWorkspace();
}, 900_000);
afterAll(async () => {
  await workspace?.stop();
  await git("worktree", "remove", "--force", earlier);
  await rm(earlier, { recursive: true, force: true });
});

/** Starts a server of the earlier build, which migrates nothing that this one has migrated. */
async function startEarlier() {
  const { runNext }: typeof import("../../scripts/run-next.ts") = await import(
    join(earlier, "scripts/run-next.ts")
  );
  const port = await freePort();
  const env = { ...workspace.env, OPENAI_BASE_URL: workspace.model.url };
  return runNext({ mode: "start", port, distDir: ".next", env, output: "collect" });
}

it("continues after the command that had ended, and streams without a gap", async () => {
  const held = gate();
  workspace.model.script("updated", async function* ({ step }) {
    yield { text: `Step ${step} ` };
    if (step === 0) yield { tool: "bash", input: { command: "echo once >> effects" } };
    else await held.pass();
  });
  const caller = await workspace.createCaller();
  const opened = await openConversation(caller);
  await crash(workspace.server);

  const old = await startEarlier();
  const started = await opened.through(clientAt(old.url, caller)).send("[script:updated]");
  await held.reached;
  const seen = started.frames.length;
  await crash(old);

  const server = await workspace.startServer();
  held.open();
  const talk = opened.through(clientAt(server.url, caller));
  const rest = await (await talk.resume({ runId: started.runId, startIndex: seen })).ended;
  expectCompleteTurn([...started.frames.slice(0, seen), ...rest]);
  expect(textOf(await talk.answer())).toContain("Step 1");
  expect(await workspace.readSandboxFile(talk.sessionId, "effects")).toBe("once\n");
}, 300_000);

it("serves beside the earlier build, and takes over what that hands over when it drains", async () => {
  const old = await startEarlier();
  const caller = await workspace.createCaller();
  const atOld = clientAt(old.url, caller);

  // A run that waits for its client, and a message that waits for its chat, without a process.
  const play = { name: "play", description: "Plays", input_schema: { type: "object" } };
  workspace.model.script("waiting", function* ({ toolResults }) {
    if (toolResults.length === 0) yield { tool: "play", id: "play-1", input: {} };
    else yield { text: `Told: ${toolResults.join()}` };
  });
  const waiting = await startRun(atOld, { prompt: "[script:waiting]", client_tools: [play] });
  expect(await waitForCalls(atOld, waiting)).toHaveLength(1);

  const held = gate();
  workspace.model.script("crossing", async function* ({ step }) {
    yield { text: `Step ${step} ` };
    if (step === 0) yield { tool: "bash", input: { command: "echo once >> effects" } };
    else await held.pass();
  });
  const here = await openConversation(caller);
  const there = here.through(atOld);
  const [first, second] = [await there.send("[script:crossing]"), await openConversation(caller)];
  await held.reached;
  const queued = await there.send([{ id: "queued", content: "and then?" }], { onBusy: "enqueue" });
  const fromHere = await here.resume({ startIndex: 0 });
  // A turn of this build is read, and its chat is stopped, through the earlier one.
  workspace.model.script("new", async function* () {
    yield { text: "first" };
    yield { hang: true };
  });
  const newTurn = await second.send("[script:new]");
  await newTurn.until((chunk) => chunk.type === "text-delta");
  const readThere = await second.through(atOld).resume();
  await readThere.until((chunk) => chunk.type === "text-delta");
  expect((await second.through(atOld).stop()).body).toMatchObject({ stopped: true });
  expect(await readThere.ended).toEqual(await newTurn.ended);

  const stopped = old.stop();
  held.open();
  const whole = await fromHere.ended;
  expectCompleteTurn(whole);
  expect(whole.slice(0, first.frames.length)).toEqual(first.frames);
  await stopped;
  expect(await workspace.readSandboxFile(here.sessionId, "effects")).toBe("once\n");
  // Its stream was with the earlier build.
  await queued.ended;
  await expect.poll(async () => textOf(await here.answer())).toBe("You said: and then?");

  expect((await sendResults(caller, waiting, [{ id: "play-1", output: "ok" }])).status).toBe(200);
  await waitForRun(caller, waiting);
  expect((await readRun(caller, waiting)).status).toBe("completed");
}, 300_000);
