/** Runs with an `output_schema`, whose model submits the output. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OUTPUT_REQUEST } from "../../lib/outcome/output.ts";
import type { FakeOpenAI, Script, ScriptPart } from "../support/fakes/openai.ts";
import { startWebhookEndpoint } from "../support/fakes/webhook-endpoint.ts";
import type { Client } from "../support/harness/clients.ts";
import { conversationOf, startRun, waitForRun } from "../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../support/harness/shared-workspace.ts";
import { sql } from "../support/harness/stack.ts";

let workspace: SharedWorkspace;
let model: FakeOpenAI;
let caller: Client;
beforeAll(async () => {
  workspace = await joinWorkspace();
  model = workspace.model;
  caller = await workspace.createCaller();
});
afterAll(() => workspace?.stop());

const invoice = {
  type: "object",
  properties: { total: { type: "number", minimum: 0 }, currency: { enum: ["EUR", "USD"] } },
  required: ["total", "currency"],
  additionalProperties: false,
};
const valid = { total: 19.99, currency: "EUR" };
const submit = (input: unknown): ScriptPart => ({ tool: "submit_output", input });

/** A script with these answers, one for each model call. */
const answers = (...parts: readonly (readonly ScriptPart[])[]): Script => {
  let next = 0;
  return function* () {
    yield* parts[next++] ?? [{ text: "There is no more." }];
  };
};

async function run(name: string, output_schema: object, script: Script, more = {}) {
  model.script(name, script);
  const started = await startRun(caller, { prompt: `[script:${name}]`, output_schema, ...more });
  return { started, ended: await waitForRun(caller, started) };
}

describe("a run with an output schema", () => {
  it("ends when the model submits, with the output", async () => {
    const script = answers([{ text: "Working." }, submit(valid)]);
    const { started, ended } = await run("output-valid", invoice, script);
    expect(ended).toMatchObject({ status: "completed", error: null, output: valid });
    expect(model.callsOf("output-valid")).toHaveLength(1);
    expect(model.callsOf("output-valid")[0]?.tools).toContain("submit_output");
    const { parts } = await conversationOf(caller, started).answer();
    expect(parts).toContainEqual(
      expect.objectContaining({
        type: "tool-submit_output",
        state: "output-available",
        input: valid,
        output: { accepted: true },
      }),
    );
    const trace = await caller.get(`/api/chat/runs/${started.runId}/steps`);
    expect(trace.body).toMatchObject({
      run: { output: valid },
      steps: [{ tool_calls: [{ name: "submit_output", state: "completed" }] }],
    });
    const list = await caller.get("/api/chat/runs?limit=1");
    expect(list.body).not.toHaveProperty("runs.0.output");
  });

  it("runs the other tools of the same answer first", async () => {
    const script = answers([
      { tool: "bash", input: { command: "echo kept > kept.txt; cat kept.txt" } },
      submit(valid),
    ]);
    const { started, ended } = await run("output-with-tools", invoice, script);
    expect(ended).toMatchObject({ status: "completed", output: valid });
    const answer = await conversationOf(caller, started).answer();
    expect(JSON.stringify(answer.parts)).toContain("kept\\n");
  });

  it("gives the model the errors of an invalid output, which it corrects", async () => {
    const script = answers(
      [submit({ total: -1, currency: "EUR" })],
      [submit({ total: 1 })],
      [submit({ ...valid, more: true })],
      [submit(valid)],
    );
    const { started, ended } = await run("output-corrected", invoice, script);
    expect(ended).toMatchObject({ status: "completed", error: null, output: valid });
    const results = model.callsOf("output-corrected").at(-1)?.toolResults ?? [];
    expect(results).toHaveLength(3);
    expect(results[0]).toContain("/total must be >= 0");
    expect(results[1]).toContain("must have required property 'currency'");
    expect(results[2]).toContain('must NOT have additional properties: \\"more\\"');
    const trace = await caller.get(`/api/chat/runs/${started.runId}/steps`);
    expect(trace.body).toMatchObject({
      steps: [
        { tool_calls: [{ state: "failed" }] },
        { tool_calls: [{ state: "failed" }] },
        { tool_calls: [{ state: "failed" }] },
        { tool_calls: [{ state: "completed" }] },
      ],
    });
  });

  it("fails when the output is still invalid after three corrections", async () => {
    const wrong = [submit({ total: "many", currency: "EUR" })];
    const script = answers(wrong, wrong, wrong, wrong, [submit(valid)]);
    const { ended } = await run("output-invalid", invoice, script);
    expect(ended).toMatchObject({
      status: "failed",
      error: "output_invalid: /total must be number",
      output: null,
    });
    expect(model.callsOf("output-invalid")).toHaveLength(4);
  });

  it("counts a call that is not JSON", async () => {
    const broken: ScriptPart[] = [{ tool: "submit_output", rawInput: '{"total": 1,' }];
    const corrected = await run("output-broken", invoice, answers(broken, [submit(valid)]));
    expect(corrected.ended).toMatchObject({ status: "completed", output: valid });
    const script = answers(broken, broken, broken, broken, [submit(valid)]);
    const { ended } = await run("output-always-broken", invoice, script);
    expect(ended).toMatchObject({
      status: "failed",
      error: "output_invalid: The input of submit_output was not valid JSON",
      output: null,
    });
  });

  it("is asked once when it stops without submitting", async () => {
    const script = answers([{ text: "It is 19.99 EUR." }], [submit(valid)]);
    const { ended } = await run("output-asked", invoice, script);
    expect(ended).toMatchObject({ status: "completed", output: valid });
    const [first, second, ...others] = model.callsOf("output-asked");
    expect(others).toEqual([]);
    // The request only grows at its end.
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
    expect(second?.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: "It is 19.99 EUR." },
      { role: "user", content: OUTPUT_REQUEST.content },
    ]);
  });

  it("fails when it stops twice", async () => {
    const script = answers([{ text: "Done." }], [{ text: "Really." }], [submit(valid)]);
    const { started, ended } = await run("output-silent", invoice, script);
    expect(ended).toMatchObject({
      status: "failed",
      error: "output_invalid: The model stopped without submitting an output",
      output: null,
    });
    const answer = await conversationOf(caller, started).answer();
    expect(JSON.stringify(answer.parts)).toContain("Really.");
  });

  it.each([
    ["a list", { type: "array", items: { type: "integer" }, minItems: 1 }, [1, 2], []],
    ["null", { type: "null" }, null, 1],
    ["a text", { enum: ["yes", "no"] }, "yes", "maybe"],
    [
      "a union",
      {
        oneOf: [
          { type: "object", required: ["a"] },
          { type: "object", required: ["b"] },
        ],
      },
      { a: 1 },
      { a: 1, b: 2 },
    ],
  ])("wraps %s in an object", async (what, schema, right, wrong) => {
    const name = `output-wrapped-${what.replaceAll(" ", "-")}`;
    const script = answers(
      [submit(right)],
      [submit({ output: wrong })],
      [submit({ output: right })],
    );
    const { started, ended } = await run(name, schema, script);
    expect(ended).toMatchObject({ status: "completed", output: right });
    const [first, second] = model.callsOf(name).at(-1)?.toolResults ?? [];
    expect(first).toContain("the input must be {output: …}");
    expect(second).toContain("/output");
    const [stored] = await sql`
      select output is null as is_missing from turns where run_id = ${started.runId}`;
    expect(stored?.is_missing).toBe(false);
  });

  it("keeps the order of the schema's properties for the model", async () => {
    const properties = Object.fromEntries(
      ["reasoning", "a", "zz", "answer"].map((key) => [key, { type: "string" }]),
    );
    const schema = { type: "object", properties };
    const { ended } = await run("output-order", schema, answers([submit({ a: "1" })]));
    expect(ended.output).toEqual({ a: "1" });
    const sent = model.callsOf("output-order")[0]?.toolSchemas.submit_output;
    expect(JSON.stringify(sent)).toContain(JSON.stringify(properties).slice(1, -1));
  });

  it("stores exactly the JSON that was validated", async () => {
    const strange = { "\u0000": "a\u0000b\ud800", __proto__x: -0, n: 1e308, t: "\u2028", "": [] };
    const { ended } = await run("output-strange", { type: "object" }, answers([submit(strange)]));
    expect(ended.output).toEqual({
      "\ufffd": "a\ufffdb\ufffd",
      __proto__x: 0,
      n: 1e308,
      t: "\u2028",
      "": [],
    });
  });

  it("notifies the run's webhook with the output", async () => {
    const endpoint = await startWebhookEndpoint();
    try {
      const script = answers([submit(valid)]);
      const more = { webhook_url: endpoint.url };
      const { started } = await run("output-webhook", invoice, script, more);
      await expect.poll(() => endpoint.received.length).toBe(1);
      expect(JSON.parse(endpoint.received[0]?.body ?? "")).toMatchObject({
        type: "run.completed",
        data: { run_id: started.runId, status: "completed", output: valid },
      });
    } finally {
      await endpoint.stop();
    }
  });

  it("has no output when it is stopped", async () => {
    model.script(
      "output-stopped",
      answers([{ tool: "bash", input: { command: "sleep 100" } }, submit(valid)]),
    );
    const started = await startRun(caller, {
      prompt: "[script:output-stopped]",
      output_schema: invoice,
    });
    const stream = await conversationOf(caller, started).resume();
    await stream.until((chunk) => chunk.type === "tool-input-available");
    await caller.post(`/api/chat/runs/${started.runId}/cancel`, {});
    expect(await waitForRun(caller, started)).toMatchObject({ status: "cancelled", output: null });
  });

  it("is not offered to a run without a schema, nor to the next turn of the chat", async () => {
    const { started } = await run("output-then-chat", invoice, answers([submit(valid)]));
    model.script("output-none", answers([{ text: "Hello." }]));
    const plain = await startRun(caller, { prompt: "hello [script:output-none]" });
    expect(await waitForRun(caller, plain)).toMatchObject({ status: "completed", output: null });
    expect(model.callsOf("output-none")[0]?.tools).not.toContain("submit_output");
    model.script("output-next", answers([{ text: "It was 19.99." }]));
    await (await conversationOf(caller, started).send("[script:output-next]")).ended;
    expect(model.callsOf("output-next")[0]?.tools).not.toContain("submit_output");
  });
});
