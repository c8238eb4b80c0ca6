/** One effect per key, even if the server is killed between the effect and its response. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { contracts } from "../../lib/openapi/registry.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { imagesIn, runOf, videoIn } from "../support/fixtures/generations.ts";
import { nameOf } from "../support/fixtures/shapes.ts";
import { createTask, taskIn, validTask } from "../support/fixtures/tasks.ts";
import { templateIn, validTemplate } from "../support/fixtures/templates.ts";
import { blockUpdates } from "../support/harness/block-updates.ts";
import type { Answer, Client } from "../support/harness/clients.ts";
import { startedOf, waitForRun } from "../support/harness/runs.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
let survivor: RunningNext;
beforeAll(async () => {
  // Both have one origin, because a response stored by one must be valid at the other.
  workspace = await startWorkspace({ PUBLIC_URL: "http://127.0.0.1:1" });
  survivor = workspace.server;
});
afterAll(() => workspace.stop());

interface Endpoint {
  readonly name: string;
  /** The path of a request, where the endpoint's has parameters. */
  path?(caller: Client): Promise<string>;
  body(caller: Client): Promise<unknown>;
  /** Ids of the account's objects of this kind. */
  effects(accountId: string): Promise<string[]>;
  /** The id of the object in a response. */
  effectIn(answer: Answer, caller: Client): Promise<string>;
}

const idsOf = async (rows: Promise<readonly Record<string, unknown>[]>): Promise<string[]> =>
  (await rows).map(({ id }) => String(id));
const generations = (kind: string) => (accountId: string) =>
  idsOf(workspace.sql`select id from task_runs
    where account_id = ${accountId} and task_identifier = ${`generate-${kind}`}`);

const endpoints: readonly Endpoint[] = [
  {
    name: "POST /api/chat/runs",
    body: async () => ({ prompt: "hello" }),
    effects: (accountId) =>
      idsOf(workspace.sql`select run_id as id from turns t join sessions s on s.id = t.session_id
        where s.account_id = ${accountId}`),
    async effectIn(answer, caller) {
      const run = startedOf(answer);
      expect((await waitForRun(caller, run)).status).toBe("completed");
      return run.runId;
    },
  },
  {
    name: "POST /api/agents/templates",
    body: async () => ({ ...validTemplate, is_private: true, share_emails: ["a@example.com"] }),
    effects: (accountId) =>
      idsOf(workspace.sql`select id from agent_templates where account_id = ${accountId}`),
    effectIn: async (answer) => templateIn(answer).id,
  },
  {
    name: "POST /api/content/image",
    body: async () => ({ prompt: "A red kite" }),
    effects: generations("image"),
    async effectIn(answer, caller) {
      const run = await runOf(caller, answer);
      expect(run.output).toMatchObject(imagesIn(answer));
      return run.id;
    },
  },
  {
    name: "POST /api/content/video",
    async body(caller) {
      const made = await caller.post("/api/content/image", { prompt: "A red kite" });
      return { image_url: imagesIn(made).imageUrl, duration: "4s" };
    },
    effects: generations("video"),
    async effectIn(answer, caller) {
      const run = await runOf(caller, answer);
      expect(run.output).toMatchObject({ videoSourceUrl: videoIn(answer).videoUrl });
      return run.id;
    },
  },
  {
    name: "POST /api/tasks",
    body: async () => validTask,
    effects: (accountId) =>
      idsOf(workspace.sql`select id from scheduled_prompts where account_id = ${accountId}`),
    effectIn: async (answer) => taskIn(answer).id,
  },
  {
    name: "POST /api/tasks/{id}/run",
    path: async (caller) => `/api/tasks/${(await createTask(caller)).id}/run`,
    body: async () => undefined,
    effects: (accountId) =>
      idsOf(workspace.sql`select task_run_id as id from scheduled_firings
        where account_id = ${accountId}`),
    effectIn: async (answer) =>
      z.object({ task_run_id: z.string() }).parse(answer.body).task_run_id,
  },
];

it("every endpoint that takes a key is killed here", () => {
  const taking = contracts.filter(({ idempotent }) => idempotent).map(nameOf);
  expect(endpoints.map(({ name }) => name).sort()).toEqual(taking.sort());
});

interface Lost {
  readonly caller: Client;
  readonly accountId: string;
  readonly send: (to: Client) => Promise<Answer>;
  /** Ids of the objects created by the killed server. */
  made: string[];
}

describe("a server that is killed between the effect and its answer", () => {
  const requests = new Map<string, Lost>();
  // One is killed with a request to each endpoint.
  beforeAll(async () => {
    const doomed = await workspace.startServer();
    for (const { name, path: pathFor, body: bodyFor } of endpoints) {
      const caller = await workspace.createCaller(doomed.url);
      const body = await bodyFor(caller);
      const headers = { "idempotency-key": randomUUID() };
      const [method = "", template = ""] = name.split(" ");
      const path = (await pathFor?.(caller)) ?? template;
      const send = (to: Client) => to.request(method, path, { body, headers });
      requests.set(name, { caller, accountId: await accountOf(caller), send, made: [] });
    }
    const accounts = [...requests.values()].map(({ accountId }) => `'${accountId}'`);
    const beforeAnswer = await blockUpdates(workspace.env.DATABASE_URL ?? "", {
      lock: 7_010,
      table: "idempotency_keys",
      when: `new.response is not null and new.account_id in (${accounts})`,
    });
    const lost = [...requests.values()].map(({ caller, send }) => send(caller).catch(() => "died"));
    await vi.waitFor(async () => expect(await beforeAnswer.waiting()).toBe(endpoints.length), {
      timeout: 60_000,
      interval: 20,
    });
    await crash(doomed);
    expect(new Set(await Promise.all(lost))).toEqual(new Set(["died"]));
    await beforeAnswer.drop();
    for (const { name, effects } of endpoints) {
      const request = requests.get(name);
      if (request) request.made = await effects(request.accountId);
    }
  });

  it.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
    "%s again at another server finds the effect, and makes no second",
    async (name, { effects, effectIn }) => {
      const request = requests.get(name);
      if (!request) throw new Error("It was not requested");
      const { caller, accountId, send, made } = request;
      expect(made).toHaveLength(1);
      const there = clientAt(survivor.url, caller);
      // Or fifteen seconds later: so long the dead server's place is kept.
      await workspace.sql`update idempotency_keys set lease_until = now() - interval '1 second'
        where account_id = ${accountId}`;
      const answer = await send(there);
      expect([await effectIn(answer, there)], answer.text).toEqual(made);
      const repeated = await send(there);
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
      expect([repeated.status, repeated.text]).toEqual([answer.status, answer.text]);
      expect(await effects(accountId)).toEqual(made);
    },
  );
});

async function accountOf(caller: Client): Promise<string> {
  const key = z.object({ id: z.uuid() });
  const { id } = key.parse((await caller.post("/api/keys", { key_name: "second" })).body);
  const [row] = await workspace.sql`select account_id from api_keys where id = ${id}`;
  return z.uuid().parse(row?.account_id);
}
