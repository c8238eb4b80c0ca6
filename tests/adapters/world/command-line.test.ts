/** The Workflow SDK's own command line on the runs of a server, as docs/deploy.md shows it. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { projectRoot } from "../../../scripts/project-root.ts";
import { createPerson } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { setting } from "../../support/harness/stack.ts";

const program = join(projectRoot, "node_modules/@workflow/cli/bin/run.js");

const rows = z.array(z.object({ runId: z.string(), status: z.string() }));
const page = z.object({ data: rows });

/** Returns what `npx workflow inspect` prints. */
async function inspect(...args: string[]): Promise<unknown> {
  const env = {
    ...process.env,
    DATABASE_URL: setting("DATABASE_URL"),
    WORKFLOW_TARGET_WORLD: join(projectRoot, "scripts/workflow-world.ts"),
  };
  const command = [program, "inspect", ...args, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env });
  return JSON.parse(stdout);
}

describe("npx workflow", () => {
  it("lists the runs of the server, and shows one with its steps", async () => {
    const { withKey } = await createPerson();
    // The first second of a turn is not a step of its run.
    const turn = await (await openConversation(withKey)).send("run: sleep 1.1\nrun: echo done");
    await turn.ended;
    const { runId } = turn;
    const completed = { runId, status: "completed" };
    await expect.poll(() => inspect("run", runId)).toMatchObject(completed);
    // Other tests start runs on the same server.
    const runs = page.parse(await inspect("runs", "--limit=200"));
    expect(runs.data).toContainEqual(completed);
    expect(rows.parse(await inspect("steps", "--runId", runId))).toEqual([completed]);
  });
});
