/** The database's REST interface goes away under a running turn and comes back; PostgreSQL stays. */
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { effectsOf, expectSurvived, STEPS, sixSteps } from "./six-steps.ts";

/** Stands before the REST interface, and refuses every connection while it is `away`. */
let door: Server;
let away: boolean;
let workspace: Workspace;
afterEach(async () => {
  await workspace.stop();
  door.closeAllConnections();
  door.close();
});

/** @param installation what REST answers as the database's identity, if not the truth */
async function start(installation?: string): Promise<void> {
  away = false;
  let rest = "";
  door = createServer((incoming, outgoing) => {
    if (away) return void incoming.socket.destroy();
    const { method, url, headers } = incoming;
    if (installation !== undefined && url === "/rest/v1/rpc/installation_id") {
      incoming.resume();
      outgoing.setHeader("content-type", "application/json");
      return void outgoing.end(JSON.stringify(installation));
    }
    const onward = httpRequest(rest, { method, path: url, headers });
    onward.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const { port } = door.address() as AddressInfo;
  workspace = await startWorkspace(async ({ SUPABASE_URL = "" }) => {
    rest = SUPABASE_URL;
    return { SUPABASE_URL: `http://127.0.0.1:${port}` };
  });
}

async function turnUntil(step: number) {
  const last = gate();
  const pause = { step, where: "called", gate: gate() } as const;
  workspace.model.script("rest", sixSteps(pause, last));
  const conversation = await openConversation(await workspace.createCaller());
  const stream = await conversation.send("[script:rest]");
  await pause.gate.reached;
  return { last, pause, conversation, stream };
}

it("a turn whose records go over it waits longer and longer for it, and then goes on, exactly", async () => {
  // To the server, the durable engine has a separate database.
  await start("b0b5c5a5-0000-4000-8000-000000000000");
  const { last, pause, conversation, stream } = await turnUntil(3);
  away = true;
  door.closeAllConnections();
  pause.gate.open();
  // Twenty attempts, which is all that a step has, a second apart would soon be used up.
  await expect
    .poll(
      () => workspace.sql`
        select 1 from engine.steps where retry_after > updated_at + interval '3 seconds'`,
      { interval: 100 },
    )
    .toHaveLength(1);
  expect(stream.isDone).toBe(false);
  away = false;
  last.open();
  const frames = await stream.ended;
  expect(stream.isDone).toBe(true);
  await expectSurvived(workspace, { conversation, before: [], after: frames });
  expect(new Set(await effectsOf(workspace, conversation)).size).toBe(STEPS);
});

it("a turn whose records go over a connection to PostgreSQL does not notice", async () => {
  await start();
  const { last, pause, conversation, stream } = await turnUntil(3);
  away = true;
  door.closeAllConnections();
  pause.gate.open();
  last.open();
  const frames = await stream.ended;
  expect(stream.isDone).toBe(true);
  away = false;
  await expectSurvived(workspace, { conversation, before: [], after: frames });
  expect(await effectsOf(workspace, conversation)).toHaveLength(STEPS);
});
