/** The database's REST interface goes away under a running turn and comes back; PostgreSQL stays. */
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import type { Client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { effectsOf, expectSurvived, STEPS, tenSteps } from "./ten-steps.ts";

/** Stands before the REST interface, and refuses every connection while it is `away`. */
let door: Server;
let away = false;
let workspace: Workspace;
let caller: Client;
beforeAll(async () => {
  door = createServer((incoming, outgoing) => {
    if (away) return void incoming.socket.destroy();
    const { method, url, headers } = incoming;
    const onward = httpRequest(workspace.env.SUPABASE_URL ?? "", { method, path: url, headers });
    onward.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const { port } = door.address() as AddressInfo;
  workspace = await startWorkspace({ SUPABASE_URL: `http://127.0.0.1:${port}` });
  caller = await workspace.createCaller();
});
afterAll(async () => {
  await workspace.stop();
  door.closeAllConnections();
  door.close();
});

it("the turn waits longer and longer for it, and then goes on, exactly", async () => {
  const last = gate();
  const halt = { step: 3, where: "called", gate: gate() } as const;
  workspace.model.script("rest", tenSteps(halt, last));
  const conversation = await openConversation(caller);
  const stream = await conversation.send("[script:rest]");
  await halt.gate.reached;
  away = true;
  door.closeAllConnections();
  halt.gate.open();
  // Twenty attempts, which is all that a step has, a second apart would soon be used up.
  await expect
    .poll(
      () => workspace.sql`
        select 1 from engine.steps where retry_after > updated_at + interval '3 seconds'`,
      { timeout: 40_000, interval: 100 },
    )
    .toHaveLength(1);
  expect(stream.isDone).toBe(false);
  away = false;
  last.open();
  const frames = await stream.ended;
  expect(stream.isDone).toBe(true);
  await expectSurvived(workspace, { conversation, before: [], after: frames });
  expect(new Set(await effectsOf(workspace, conversation)).size).toBe(STEPS);
}, 90_000);
