import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { calling, client_tools, lookup } from "../../support/fixtures/client-tools.ts";
import { readResult } from "../../support/fixtures/shown-result.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import {
  conversationOf,
  readRun,
  sendResults,
  startRun,
  waitForCalls,
  waitForRun,
} from "../../support/harness/runs.ts";
import { sql } from "../../support/harness/stack.ts";
import { assemble, expectCompleteTurn } from "../../support/harness/turn-stream.ts";

const place = provideChatServer();
let caller: Client;
beforeAll(async () => {
  caller = (await createPerson(place.server.url)).withKey;
});

const start = (script: string, more: object = {}) =>
  startRun(caller, { prompt: `[script:${script}]`, client_tools, ...more });

describe("a headless run", () => {
  it("waits for the results of its client, and continues in the same run and stream", async () => {
    place.model.script(
      "results",
      calling(
        { tool: "look_up_track", id: "one" },
        { tool: "bash", id: "two", input: { command: "echo from the sandbox" } },
        { tool: "play", id: "three" },
      ),
    );
    const run = await start("results");
    const calls = await waitForCalls(caller, run);
    expect(calls).toEqual([
      { id: "one", name: "look_up_track", input: { isrc: "QZ1" } },
      { id: "three", name: "play", input: { isrc: "QZ1" } },
    ]);
    const offered = place.model.callsOf("results")[0]?.toolSchemas.look_up_track;
    expect(JSON.stringify(offered)).toBe(JSON.stringify(lookup.input_schema));

    const reader = await conversationOf(caller, run).resume();
    // One result at a time; the first may be repeated.
    const first = [{ id: "one", output: { title: "Nightjar" } }];
    for (const _ of [1, 2]) {
      const answer = await sendResults(caller, run, first);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toMatchObject({
        status: "requires_action",
        required_action: { tool_calls: [{ id: "three" }] },
      });
    }
    const last = await sendResults(caller, run, [{ id: "three", error: "No speakers" }]);
    expect(last.body).toMatchObject({ status: "running", required_action: null });

    expect(await waitForRun(caller, run)).toMatchObject({ status: "completed", error: null });
    const requests = place.model.callsOf("results");
    expect(requests).toHaveLength(2);
    expect(requests[1]?.toolResults.map(readResult)).toEqual([
      { title: "Nightjar" },
      expect.objectContaining({ stdout: "from the sandbox\n" }),
      { error: "No speakers" },
    ]);
    // All readers receive the same stream of the run, at any time.
    const stored = await conversationOf(caller, run).answer();
    const again = await conversationOf(caller, run).resume({ runId: run.runId });
    for (const stream of [reader, again]) {
      expectCompleteTurn(await stream.ended);
      expect(await assemble(stream.chunks)).toEqual(stored);
    }
    expect(stored.parts.map(({ type }) => type)).toEqual([
      ...["step-start", "tool-look_up_track", "tool-bash", "tool-play", "step-start", "text"],
    ]);
    const { body } = await caller.get(`/api/chat/runs/${run.runId}/steps`);
    expect(Object(body).steps[0].tool_calls).toMatchObject([
      { id: "one", state: "completed" },
      { id: "two", state: "completed" },
      { id: "three", state: "failed", error: "No speakers" },
    ]);
  });

  it("continues once for each step, however often its client sends the results", async () => {
    place.model.script("often", function* ({ step }) {
      // Some models use the ids of their calls again.
      if (step < 4) yield* ["play", "look_up_track"].map((tool) => ({ tool, id: tool, input: {} }));
      else yield { text: "Done" };
    });
    const endings = Array.from({ length: 8 }, async () => {
      const { withKey } = await createPerson(place.server.url);
      const run = await startRun(withKey, { prompt: "[script:often]", client_tools });
      for (;;) {
        const { status, finishedAt, required_action } = await readRun(withKey, run);
        if (finishedAt !== null) return status;
        for (const { id } of required_action?.tool_calls ?? []) {
          const results = [{ id, output: randomUUID() }];
          await Promise.all([1, 2].map(() => sendResults(withKey, run, results)));
        }
      }
    });
    expect(new Set(await Promise.all(endings))).toEqual(new Set(["completed"]));
    expect(place.model.callsOf("often")).toHaveLength(8 * 5);
  });

  it("is listed as one that requires action, and is no active turn meanwhile", async () => {
    place.model.script("listed", calling({ tool: "play", id: "one" }));
    const { withKey } = await createPerson(place.server.url);
    const run = await startRun(withKey, { prompt: "[script:listed]", client_tools });
    await waitForCalls(withKey, run);
    const listed = async (status: string) =>
      Object((await withKey.get(`/api/chat/runs?status=${status}`)).body).runs.map(
        (item: { runId: string; status: string }) => [item.runId, item.status],
      );
    expect(await listed("requires_action")).toEqual([[run.runId, "requires_action"]]);
    expect(await listed("running")).toEqual([]);
    const [active] = await sql`
      select count_active_turns(account_id)::int as turns from turns where run_id = ${run.runId}`;
    expect(active).toEqual({ turns: 0 });
    await sendResults(withKey, run, [{ id: "one", output: null }]);
    await waitForRun(withKey, run);
    expect(await listed("requires_action")).toEqual([]);
  });

  it("submits an output after the results", async () => {
    place.model.script("output", function* ({ step }) {
      if (step === 0) yield { tool: "play", id: "one", input: {} };
      else yield { tool: "submit_output", input: { n: 1 } };
    });
    const output_schema = { type: "object", properties: { n: { type: "integer" } } };
    const run = await start("output", { output_schema });
    await waitForCalls(caller, run);
    await sendResults(caller, run, [{ id: "one", output: "played" }]);
    expect(await waitForRun(caller, run)).toMatchObject({ status: "completed", output: { n: 1 } });
  });

  it.each(["cancel", "stop", "interrupt"])("ends with a %s while it waits", async (how) => {
    place.model.script(`ended-${how}`, calling({ tool: "play", id: "one" }));
    const run = await start(`ended-${how}`);
    await waitForCalls(caller, run);
    const conversation = conversationOf(caller, run);
    if (how === "cancel") await caller.post(`/api/chat/runs/${run.runId}/cancel`);
    if (how === "stop") expect((await conversation.stop()).body).toMatchObject({ stopped: true });
    if (how === "interrupt") {
      const next = await conversation.send("count to 3", { onBusy: "interrupt" });
      expectCompleteTurn(await next.ended);
    }
    expect(await waitForRun(caller, run)).toMatchObject({ status: "cancelled" });
    const late = await sendResults(caller, run, [{ id: "one", output: 1 }]);
    expect([late.status, late.headers.get("x-error-code")]).toEqual([409, "already_answered"]);
    const { messages } = await conversation.read();
    const answer = messages.find(({ role }) => role === "assistant");
    expect(answer?.parts.at(-1)).toMatchObject({ state: "output-error", errorText: "Stopped" });
  });

  it("continues without the results when its client sends none in time", async () => {
    place.model.script(
      "late",
      calling({ tool: "play", id: "one" }, { tool: "look_up_track", id: "two" }),
    );
    const run = await start("late");
    await waitForCalls(caller, run);
    await sendResults(caller, run, [{ id: "two", output: "in time" }]);
    const [waiting] = await sql`
      update required_actions a set wakes_at = now() - interval '10 s'
      from turns t, (select wakes_at as before, turn_id from required_actions) b
      where t.id = a.turn_id and b.turn_id = a.turn_id and t.run_id = ${run.runId}
      returning round(extract(epoch from before - now()) / 86400)::int as days`;
    expect(waiting).toEqual({ days: 7 });
    await waitForRun(caller, run);
    expect(place.model.callsOf("late")[1]?.toolResults.map((text) => JSON.parse(text))).toEqual([
      { error: "The client has sent no result in time" },
      "in time",
    ]);
  });

  it("has no more in its sandbox, nor for another account, than a run without them", async () => {
    place.model.script("foreign", calling({ tool: "play", id: "one" }));
    const run = await start("foreign");
    await waitForCalls(caller, run);
    const { withKey: stranger } = await createPerson(place.server.url);
    const foreign = await sendResults(stranger, run, [{ id: "one", output: 1 }]);
    expect([foreign.status, foreign.headers.get("x-error-code")]).toEqual([404, "not_found"]);
    expect(await readRun(caller, run)).toMatchObject({ status: "requires_action" });
    // Deleted while it waits, it is gone for good.
    await caller.delete(`/api/sessions/${run.sessionId}`);
    const gone = await sendResults(caller, run, [{ id: "one", output: 1 }]);
    expect(gone.status).toBe(404);
    await expect
      .poll(() => sql`select status from engine.runs where run_id = ${run.runId}`)
      .toEqual([{ status: "completed" }]);
  });

  it("refuses results that it does not wait for", async () => {
    place.model.script("results-refused", calling({ tool: "play", id: "one" }));
    const run = await start("results-refused");
    await waitForCalls(caller, run);
    const refused = async (results: unknown) => {
      const { status, body } = await sendResults(caller, run, results);
      return [status, Object(body).error];
    };
    expect(await refused([{ id: "two", output: 1 }])).toEqual([
      400,
      "results.0.id is no call that the run waits for",
    ]);
    const both = "Exactly one of output or error must be provided";
    expect(await refused([{ id: "one" }])).toEqual([400, both]);
    expect(await refused([{ id: "one", output: 1, error: "x" }])).toEqual([400, both]);
    expect(await refused([])).toEqual([400, "results must have at least 1 item"]);
    const twice = [1, 2].map((output) => ({ id: "one", output }));
    expect(await refused(twice)).toEqual([400, "results must have different ids"]);
    // All or none.
    await refused([
      { id: "one", output: 1 },
      { id: "two", output: 1 },
    ]);
    expect(await readRun(caller, run)).toMatchObject({ status: "requires_action" });
    expect((await sendResults(caller, run, [{ id: "one", output: "\0" }])).status).toBe(400);
    await caller.post(`/api/chat/runs/${run.runId}/cancel`);
  });

  it.each([
    ["a name of the agent's", [{ ...lookup, name: "bash" }], "client_tools.0.name is the name"],
    ["a name of its question", [{ ...lookup, name: "ask_user_question" }], "is the name of a tool"],
    ["two of one name", [lookup, lookup], "client_tools must have different names"],
    ["21 tools", Array.from({ length: 21 }, (_, n) => ({ ...lookup, name: `t${n}` })), "20"],
    ["an odd name", [{ ...lookup, name: "a b" }], "name must be 1 to 64 letters"],
    ["no object", [{ ...lookup, input_schema: { type: "string" } }], "must have the type object"],
    [
      "a reference to another document",
      [{ ...lookup, input_schema: { type: "object", properties: { a: { $ref: "https://x.y" } } } }],
      "has a $ref to another document",
    ],
  ])("refuses tools with %s, and so does a chat", async (_, tools, sentence) => {
    const body = { prompt: "Hello", client_tools: tools };
    const { status, text } = await caller.post("/api/chat/runs", body);
    expect([status, text]).toEqual([400, expect.stringContaining(sentence)]);
    const turn = { id: "tools", messages: [{ id: "m1", content: "Hello" }], client_tools: tools };
    const refused = await caller.post("/api/chat", turn);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(sentence)]);
  });
});
