/** Several server processes on one port, as `npm start` runs them. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { gate } from "../support/fakes/openai.ts";
import type { Client } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { startServer } from "../support/harness/server.ts";
import type { TurnStream } from "../support/harness/turn-stream.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { EFFECTS, effectsOf, expectSurvived, sixSteps } from "./six-steps.ts";

const PROCESSES = 2;
const TURNS = 4;

let workspace: Workspace;
let server: RunningNext;
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace({}, undefined, { processes: PROCESSES });
  server = workspace.server;
  caller = await workspace.createCaller(server.url);
});
afterAll(() => workspace.stop());

const processesOf = (parent: number): number[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));

/** The processes that run turns, as the engine knows them. */
const instances = async (): Promise<string[]> =>
  (await workspace.sql`select id from engine.instances order by id`).map((row) => String(row.id));

const ownersOfRuns = async (): Promise<number> => {
  const rows = await workspace.sql`
    select distinct r.owner from engine.runs r join engine.instances i on i.id = r.owner
    where r.status = 'running'`;
  return rows.length;
};

describe("a server with several processes", () => {
  it("runs turns in all of them, and goes on when one is killed, which it replaces", async () => {
    await expect.poll(instances).toHaveLength(PROCESSES);
    const before = await instances();
    const held = gate();
    const last = gate();
    workspace.model.script("shared", sixSteps({ step: 4, where: "text", gate: held }, last));
    const turns: { conversation: Conversation; stream: TurnStream }[] = [];
    const startTurn = async () => {
      const conversation = await openConversation(caller);
      const stream = await conversation.send("[script:shared]");
      turns.push({ conversation, stream });
      // A kill while a command runs would end it for good.
      await stream.until((chunk) => chunk.type === "text-delta" && chunk.delta === "Step 4 ");
    };
    await Promise.all(Array.from({ length: TURNS }, startTurn));
    // Connections that were opened before all processes listened lead to the first one: when they
    // are in use, a further turn opens another.
    const addUntilShared = async () => {
      const owners = await ownersOfRuns();
      if (owners < 2) await startTurn();
      return owners;
    };
    await expect.poll(addUntilShared).toBeGreaterThan(1);

    const processes = processesOf(server.pid);
    expect(processes).toHaveLength(PROCESSES);
    const [killed = 0] = processes;
    process.kill(killed, "SIGKILL");
    held.open();
    last.open();
    for (const { conversation, stream } of turns) {
      const frames = [...(await stream.ended)];
      const seen = frames.length;
      let isDone = stream.isDone;
      // A stream of the killed process is resumed at the same address.
      while (!isDone) {
        const from = { lastEventId: frames.at(-1)?.id ?? -1 };
        // A connection that the killed process was given is closed: a client asks again.
        const rest = await conversation.resume(from).catch((error: unknown) => {
          if (error instanceof TypeError) return null;
          throw error;
        });
        if (rest === null) continue;
        if (rest.status === 204) break;
        frames.push(...(await rest.ended));
        isDone = rest.isDone;
      }
      await expectSurvived(workspace, {
        conversation,
        before: frames.slice(0, seen),
        after: frames.slice(seen),
      });
      const effects = await effectsOf(workspace, conversation);
      expect(effects).toEqual(EFFECTS);
    }

    await expect.poll(() => processesOf(server.pid).length).toBe(PROCESSES);
    expect(processesOf(server.pid)).not.toContain(killed);
    await expect.poll(instances).toHaveLength(PROCESSES);
    expect((await instances()).filter((id) => !before.includes(id))).toHaveLength(1);
    expect(server.logs()).toContain("A server process exited (SIGKILL). It is replaced");
  });

  it("goes on with running commands after a restart of the database", async () => {
    await expect.poll(instances).toHaveLength(PROCESSES);
    const before = await instances();
    const printing =
      "echo once >> effects; n=0; while [ ! -e go ]; do echo $((n++)); sleep 0.2; done; echo last";
    workspace.model.script("restart", function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: { command: printing } };
      else yield { text: "All done." };
    });
    const conversations = await Promise.all(
      Array.from({ length: TURNS }, async () => {
        const conversation = await openConversation(caller);
        await conversation.send("[script:restart]");
        await expect.poll(() => effectsOf(workspace, conversation)).toEqual(["once"]);
        return conversation;
      }),
    );
    const [session] = await workspace.sql`
      select pid from pg_stat_activity where application_name = 'agent-platform-engine' limit 1`;
    // PostgreSQL ends all sessions and recovers.
    process.kill(Number(session?.pid), "SIGKILL");
    const end = ({ sessionId }: Conversation) =>
      writeFile(join(workspace.env.DATA_DIR ?? "", "sandboxes", sessionId, "home", "go"), "");
    // Half of the commands end while the database is down.
    await Promise.all(conversations.slice(0, TURNS / 2).map(end));
    await expect.poll(() => instances().catch(() => []), { interval: 20 }).toEqual(before);
    await Promise.all(conversations.slice(TURNS / 2).map(end));
    for (const conversation of conversations) {
      await expect.poll(async () => (await conversation.read()).isStreaming).toBe(false);
      const answer = await conversation.answer();
      const call = answer?.parts.find(({ type }) => type === "tool-bash");
      expect(call).toMatchObject({ output: { stdout: expect.stringMatching(/\nlast\n$/) } });
      expect(await effectsOf(workspace, conversation)).toEqual(["once"]);
    }
    expect(await instances()).toEqual(before);
    expect(server.logs()).not.toContain("uncaught");
  });

  it("ends them all on SIGTERM", async () => {
    const processes = processesOf(server.pid);
    server.kill("SIGTERM");
    expect(await server.died).toContain("(0)");
    // tests/durability/suites/drain.ts tests that the next start continues their work.
    for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("closes the connections that a killed process was given and has not taken", async () => {
    const one = await startServer({ processes: PROCESSES });
    await expect.poll(() => processesOf(one.pid).length).toBe(PROCESSES);
    const [stopped = 0] = processesOf(one.pid);
    process.kill(stopped, "SIGSTOP");
    // Each request uses a new connection; every other one reaches the stopped process.
    const ask = () => fetch(`${one.url}/api/health`, { headers: { connection: "close" } });
    let answered = 0;
    const asked = Array.from({ length: 8 }, () => ask().then(() => answered++));
    const settled = Promise.allSettled(asked);
    await expect.poll(() => answered).toBeGreaterThan(0);
    process.kill(stopped, "SIGKILL");
    const refused = (await settled).filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    await one.stop();
  });

  it("does not start again and again with settings that no process can start with", async () => {
    const start = startServer({ processes: 2, env: { API_KEY_SECRET: "too short" } });
    await expect(start).rejects.toThrow("The server exited (1) before it answered");
  });
});
