/** SIGTERM to a server with running turns: it takes no new ones, and hands over those it has. */
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type Gate, gate } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { untilRefused } from "../../support/harness/server.ts";
import { clientAt, type Workspace } from "../../support/harness/workspace.ts";
import {
  EFFECTS,
  effectsOf,
  expectSurvived,
  type Held,
  holdTurns,
  type Place,
  STEPS,
} from "../six-steps.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

export function drainSuite(provide: ProvideWorkspace): void {
  let workspace: Workspace;
  let caller: Client;
  beforeAll(async () => {
    workspace = await provide();
    caller = await workspace.createCaller();
  });

  const hold = (name: string, places: readonly Place[], last: Gate) =>
    holdTurns(workspace, caller, name, places, last);

  /** Sends SIGTERM, and waits until the server accepts no further connection. */
  async function startDraining(server: RunningNext): Promise<void> {
    server.kill("SIGTERM");
    await untilRefused(server.url);
  }

  /** Reads the rest of a turn at another server, from where its stream was ended. */
  async function resumeAt(server: RunningNext, { conversation, stream }: Held) {
    const before = await stream.ended;
    expect(stream.isDone).toBe(false);
    const there = conversation.through(clientAt(server.url, caller));
    const lastEventId = before.at(-1)?.id;
    const rest = await there.resume(lastEventId === undefined ? {} : { lastEventId });
    expect(rest.status).toBe(200);
    expect(rest.runId).toBe(stream.runId);
    return { conversation: there, before, rest };
  }

  const modelCallsOf = (script: string) => workspace.model.callsOf(script).length;

  describe("a server that gets SIGTERM", () => {
    it("lets each step end, then hands its turn over, while other steps still run", async () => {
      const last = gate();
      const places: Place[] = [
        { step: 0, where: "before" },
        { step: 2, where: "text" },
        { step: 4, where: "input" },
        { step: 5, where: "called" },
        { step: 3, where: "command" },
      ];
      const turns = await hold("ends", places, last);
      const leaving = workspace.server;
      const other = await workspace.startServer();
      await startDraining(leaving);
      last.open();

      for (const turn of turns) {
        turn.pause.gate.open();
        // The command waits for this file; the others do not look for it.
        const folder = join(
          workspace.env.DATA_DIR ?? "",
          "sandboxes",
          turn.conversation.sessionId,
          "home",
        );
        await writeFile(join(folder, "go"), "");
        const { conversation, before, rest } = await resumeAt(other, turn);
        const after = await rest.ended;
        expect(rest.isDone).toBe(true);
        const { whole } = await expectSurvived(workspace, { conversation, before, after });
        expect(whole.length).toBe(before.length + after.length);
        // Nothing was cut: no model call was repeated, and no command interrupted.
        expect(modelCallsOf(turn.script)).toBe(STEPS + 1);
        expect(whole.filter(({ chunk }) => chunk.type === "reset-step")).toEqual([]);
        expect(await effectsOf(workspace, conversation, turn.script)).toEqual(EFFECTS);
        if (turn !== turns.at(-1)) expect(leaving.logs()).not.toContain("exited");
      }
      expect(await leaving.died).toContain("(0)");
    });

    it("takes no new turn, and says that it is not ready", async () => {
      caller = clientAt(workspace.server.url, caller);
      const last = gate();
      const [held] = await hold("refuses", [{ step: 1, where: "text" }], last);
      if (!held) throw new Error("no turn stands still");
      const fresh = await openConversation(caller);
      const leaving = workspace.server;
      // Requests that are under way when the signal comes.
      const body = JSON.stringify({
        sessionId: fresh.sessionId,
        chatId: fresh.chatId,
        messages: [{ id: "m1", content: "too late" }],
      });
      const post = request(`${leaving.url}/api/chat`, {
        method: "POST",
        headers: { ...caller.headers, "content-type": "application/json" },
      });
      post.write(body.slice(0, 10));
      const ready = connect(leaving.port, "127.0.0.1");
      ready.write("GET /api/health/ready HTTP/1.1\r\nhost: localhost\r\n");
      const first = Promise.all([
        new Promise((resolve) => post.once("socket", resolve)),
        new Promise((resolve) => ready.once("connect", resolve)),
      ]);
      await first;
      // A later request was answered, so theirs have arrived.
      await caller.get("/api/health");
      await startDraining(leaving);

      const answered = new Promise<string>((resolve, reject) => {
        post.once("error", reject);
        post.once("response", async (response) => {
          const { statusCode, headers } = response;
          resolve([statusCode, headers["x-error-code"], headers["retry-after"]].join(" "));
          response.resume();
        });
      });
      post.end(body.slice(10));
      expect(await answered).toBe("503 unavailable 1");
      ready.write("\r\n");
      const readiness = await text(ready);
      expect(readiness).toContain("HTTP/1.1 503");
      expect(readiness).toContain('"name":"durableRuns","adapter":"postgres","ready":false');

      // The turn that waits for its step was not disturbed; the next start continues it.
      expect(modelCallsOf(held.script)).toBe(2);
      held.pause.gate.open();
      last.open();
      await leaving.died;
      const next = await workspace.startServer();
      const { conversation, before, rest } = await resumeAt(next, held);
      await expectSurvived(workspace, { conversation, before, after: await rest.ended });
      expect(modelCallsOf(held.script)).toBe(STEPS + 1);
      expect((await fresh.through(clientAt(next.url, caller)).read()).messages).toEqual([]);
    });

    it("cuts a step that does not end within DRAIN_SECONDS, and another server repeats it", async () => {
      // The one that the test before has started.
      const other = workspace.server;
      const leaving = await workspace.startServer({ env: { DRAIN_SECONDS: "1" } });
      caller = clientAt(leaving.url, caller);
      const lasts = [gate(), gate()] as const;
      const held = await Promise.all([
        hold("cut-text", [{ step: 3, where: "text" }], lasts[0]),
        hold("cut-command", [{ step: 4, where: "command" }], lasts[1]),
      ]);
      const turns = held.flat();
      leaving.kill("SIGTERM");
      expect(await leaving.died).toContain("(0)");
      for (const [n, turn] of turns.entries()) {
        turn.pause.gate.open();
        const { conversation, before, rest } = await resumeAt(other, turn);
        lasts[n]?.open();
        const { whole } = await expectSurvived(workspace, {
          conversation,
          before,
          after: await rest.ended,
        });
        const isCommand = turn.pause.where === "command";
        // The text is said again, after a chunk that withdraws it; a command is not run again.
        const resets = whole.filter(({ chunk }) => chunk.type === "reset-step");
        expect(resets).toHaveLength(isCommand ? 0 : 1);
        expect(modelCallsOf(turn.script)).toBe(STEPS + (isCommand ? 1 : 2));
        expect(await effectsOf(workspace, conversation, turn.script)).toEqual(EFFECTS);
      }
    });
  });
}
