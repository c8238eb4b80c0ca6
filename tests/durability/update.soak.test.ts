/**
 * A turn that was started by an earlier build and is finished by this one. `PREVIOUS_COMMIT` names the
 * earlier build's commit; default: the newest one that is a day older than this.
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

  const { runNext }: typeof import("../../scripts/run-next.ts") = await import(
    join(earlier, "scripts/run-next.ts")
  );
  const port = await freePort();
  const env = { ...workspace.env, OPENAI_BASE_URL: workspace.model.url };
  const old = await runNext({ mode: "start", port, distDir: ".next", env, output: "collect" });
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
