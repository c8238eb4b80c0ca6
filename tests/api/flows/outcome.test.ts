/** Runs whose work is checked and judged: `outcome` of `POST /api/chat/runs`, and of chats. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeOpenAI, Script, ScriptPart } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { conversationOf, startRun, waitForRun } from "../../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";
import { assemble } from "../../support/harness/turn-stream.ts";

let workspace: SharedWorkspace;
let model: FakeOpenAI;
let caller: Client;
beforeAll(async () => {
  workspace = await joinWorkspace("priced");
  model = workspace.model;
  caller = await workspace.createCaller();
});
afterAll(() => workspace?.stop());

/** Gives one answer after the other, and one reply as the judge after the other. */
function worker(answers: readonly ScriptPart[][], replies: readonly ScriptPart[] = []): Script {
  let answered = 0;
  let judged = 0;
  return function* ({ tools }) {
    const repeated = <T>(list: readonly T[], place: number) =>
      list[Math.min(place, list.length - 1)];
    if (tools.length > 0) yield* repeated(answers, answered++) ?? [];
    else yield repeated(replies, judged++) ?? { text: "" };
  };
}

const says = (value: string) => [{ text: value }];
const reply = (satisfied: boolean, ...missing: string[]) => ({
  text: `\`\`\`json\n${JSON.stringify({ satisfied, missing })}\n\`\`\``,
});

async function run(script: string, outcome: object, more: object = {}) {
  const started = await startRun(caller, {
    prompt: `[script:${script}] Add up the statement.`,
    model: "priced",
    outcome,
    ...more,
  });
  const ended = await waitForRun(caller, started);
  const calls = model.callsOf(script);
  return {
    ended,
    conversation: conversationOf(caller, started),
    requests: calls.filter(({ tools }) => tools.length > 0),
    judged: calls.filter(({ tools }) => tools.length === 0),
  };
}

describe("a run with an outcome", () => {
  it("continues with the missing parts of a check, until they are there", async () => {
    model.script(
      "outcome-sums",
      worker([says("It is a lot."), says("The total is 1.234,50 EUR.")]),
    );
    const checks = [{ type: "answer_number", value: 1234.5 }];
    const { ended, conversation, requests, judged } = await run("outcome-sums", { checks });
    const missing = ["The answer must give the number 1234.5"];
    expect(ended).toMatchObject({
      status: "completed",
      verdicts: [
        { iteration: 1, verdict: "unsatisfied", missing },
        { iteration: 2, verdict: "satisfied", missing: [] },
      ],
    });
    expect(judged).toEqual([]);
    const [first, second] = requests;
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
    const added = second?.messages.slice(first?.messages.length) ?? [];
    expect(added.map(({ role }) => role)).toEqual(["assistant", "user"]);
    expect(added[1]?.content).toContain(`- ${missing[0]}`);

    const { parts } = await conversation.answer();
    expect(parts.map(({ type }) => type)).toEqual([
      ...["step-start", "text", "data-outcome", "step-start", "text", "data-outcome"],
    ]);
    const stream = await conversation.resume({ runId: ended.runId });
    await stream.ended;
    expect(await assemble(stream.chunks)).toEqual(await conversation.answer());
    const { body } = await caller.get(`/api/chat/runs/${ended.runId}/steps`);
    expect(Object(body).run.verdicts).toEqual(ended.verdicts);

    // A client sends the answer back as it has received it.
    model.script("outcome-thanks", worker([says("You are welcome.")]));
    const { id, parts: received } = await conversation.answer();
    const held = [
      { id: "asked", role: "user" as const, parts: [{ type: "text", text: "Add up." }] },
      { id, role: "assistant" as const, parts: received },
      { id: "thanks", content: "[script:outcome-thanks] Thanks." },
    ];
    const next = await conversation.send(held);
    expect(next.status).toBe(200);
    await next.ended;
    const given = JSON.stringify(model.callsOf("outcome-thanks")[0]?.messages);
    expect(given).toContain("1.234,50 EUR");
    expect(given).not.toContain("unsatisfied");
  });

  it("that is never satisfied ends after its iterations, and says so", async () => {
    model.script("outcome-never", worker([says("No.")]));
    const checks = [{ type: "answer_contains", text: "Yes" }];
    const { ended, requests } = await run("outcome-never", { checks, max_iterations: 2 });
    expect(ended.status).toBe("completed");
    expect(ended.verdicts.map(({ verdict }) => verdict)).toEqual(["unsatisfied", "unsatisfied"]);
    expect(requests).toHaveLength(2);
  });

  it("is judged by a separate call, which gets the answer and the files and is counted", async () => {
    const write = { tool: "write", input: { filePath: "total.csv", content: "total\n12\n" } };
    model.script(
      "outcome-judged",
      worker(
        [[write], says("Almost done."), says("All done.")],
        [reply(false, "The currency is missing"), reply(true)],
      ),
    );
    const { ended, requests, judged } = await run("outcome-judged", {
      rubric: "It names total and currency.",
    });
    expect(ended.verdicts).toEqual([
      { iteration: 1, verdict: "unsatisfied", missing: ["The currency is missing"] },
      { iteration: 2, verdict: "satisfied", missing: [] },
    ]);
    expect(requests.at(-1)?.messages.at(-1)?.content).toContain("- The currency is missing");
    const asked = judged.map(({ userText }) => userText);
    expect(asked[0]).toContain("It names total and currency.");
    expect(asked[0]).toContain("total\n12\n");
    expect(asked[0]).toContain("<answer>\nAlmost done.\n</answer>");
    expect(asked[1]).toContain("<answer>\nAll done.\n</answer>");
    const { body } = await caller.get(`/api/chat/runs/${ended.runId}/steps`);
    const all = [...requests, ...judged].map(({ usage }) => usage?.prompt_tokens ?? 0);
    expect(Object(body).run.usage.input_tokens).toBe(all.reduce((sum, one) => sum + one, 0));
  });

  it.each([
    ["contradicts", reply(true, "Something is missing")],
    ["admits", reply(false)],
    ["rambles", { text: "I like it." }],
    ["refuses", { fail: 400 }],
  ] as const)("is not judged when its judge %s", async (name, answer) => {
    model.script(`outcome-judge-${name}`, worker([says("Done.")], [answer]));
    const { ended, requests } = await run(`outcome-judge-${name}`, { rubric: "It is right." });
    expect(ended.status).toBe("completed");
    expect(ended.verdicts).toEqual([{ iteration: 1, verdict: "not_judged", missing: [] }]);
    expect(requests).toHaveLength(1);
  });

  it("submits its output again when that is incomplete", async () => {
    const submit = (n: number) => [{ tool: "submit_output", input: { n } }];
    model.script("outcome-submits", worker([submit(1), says("Hm."), submit(2)]));
    const schema = { type: "object", properties: { n: { minimum: 2 } } };
    const { ended } = await run(
      "outcome-submits",
      { checks: [{ type: "output_matches", schema }] },
      { output_schema: { type: "object", properties: { n: { type: "integer" } } } },
    );
    expect(ended).toMatchObject({ status: "completed", output: { n: 2 } });
    expect(ended.verdicts.map(({ verdict }) => verdict)).toEqual(["unsatisfied", "satisfied"]);
  });

  it("is judged by what was said beside the output, and ends once the output is the same again", async () => {
    const submit = { tool: "submit_output", input: { n: 1 } };
    model.script(
      "outcome-cannot",
      worker([[{ text: "The mail is drafted." }, submit]], [reply(false, "A picture")]),
    );
    const { ended, requests, judged } = await run(
      "outcome-cannot",
      { rubric: "It has a picture.", max_iterations: 5 },
      { output_schema: { type: "object", properties: { n: { type: "integer" } } } },
    );
    expect(ended).toMatchObject({ status: "completed", output: { n: 1 } });
    expect(judged[0]?.userText).toContain("The mail is drafted.\n\nSubmitted output:\n{");
    expect(ended.verdicts.map(({ verdict }) => verdict)).toEqual(["unsatisfied", "unsatisfied"]);
    expect(requests).toHaveLength(2);
  });

  it("passes and fails each kind of check", async () => {
    const csv = "isrc,amount\nDE1234567890,10.0\n";
    const path = "sums.csv";
    const passing = [
      { type: "answer_contains", text: "ISRC" },
      { type: "answer_matches", pattern: "\\d+ tracks?" },
      { type: "answer_number", value: -12.5 },
      { type: "answer_number", value: -12, tolerance: 0.5 },
      { type: "file_exists", path },
      { type: "file_contains", path, text: "DE1234567890" },
      { type: "csv_equals", path, csv },
      { type: "csv_equals", path, csv: csv.replace("10.0", "9.9"), tolerance: 0.2 },
      { type: "tool_called", tool: "write" },
      { type: "tool_not_called", tool: "bash" },
      { type: "max_steps", value: 2 },
      { type: "max_cost_usd", value: 100 },
    ];
    const failing = [
      { type: "answer_contains", text: "UPC" },
      { type: "answer_matches", pattern: "(a+)+$" },
      { type: "answer_number", value: 12, tolerance: 0.4 },
      { type: "output_matches", schema: { type: "object" } },
      { type: "file_exists", path: "../../etc/none" },
      { type: "file_contains", path: "none.csv", text: "DE1234567890" },
      { type: "csv_equals", path, csv: csv.replace("10.0", "10.01") },
      { type: "csv_equals", path, csv: `${csv}x,1\n` },
      { type: "tool_called", tool: "bash" },
      { type: "tool_not_called", tool: "write" },
      { type: "max_steps", value: 1 },
      { type: "max_cost_usd", value: 0.000001 },
    ];
    const content = "\ufeffisrc,amount\r\nDE1234567890,10\r\n";
    const write = { tool: "write", input: { filePath: path, content } };
    const answer = says("3 tracks of this ISRC have \u221212.50.");
    model.script("outcome-checked", worker([[write], answer, [write], answer]));
    const met = await run("outcome-checked", { checks: passing, max_iterations: 1 });
    expect(met.ended.verdicts).toEqual([{ iteration: 1, verdict: "satisfied", missing: [] }]);
    const unmet = await run("outcome-checked", { checks: failing, max_iterations: 1 });
    expect(unmet.ended.verdicts[0]?.missing).toHaveLength(failing.length);
    expect(unmet.ended.verdicts[0]?.missing).toContain("The answer must contain: UPC");
  });

  it.each([
    {},
    { checks: [] },
    { rubric: " " },
    { rubric: "x", max_iterations: 6 },
    { rubric: "x", model: "no-such-model" },
    { checks: [{ type: "answer_sings" }] },
    {
      checks: Array.from({ length: 4 }, () => ({
        type: "answer_contains",
        text: "x".repeat(9_000),
      })),
    },
    { checks: [{ type: "answer_matches", pattern: "(" }] },
    { checks: [{ type: "answer_matches", pattern: "(?=a)" }] },
    { checks: [{ type: "output_matches", schema: { $ref: "https://example.com/s.json" } }] },
  ])("is refused with %j", async (outcome) => {
    const { status, body } = await caller.post("/api/chat/runs", { prompt: "x", outcome });
    expect(status).toBe(400);
    expect(Object(body).status).toBe("error");
  });
});

describe("a chat with an outcome", () => {
  it("has each of its answers checked", async () => {
    const conversation = await openConversation(caller);
    const { sessionId, chatId } = conversation;
    const outcome = { checks: [{ type: "answer_contains", text: "Regards" }], max_iterations: 2 };
    const path = `/api/sessions/${sessionId}/chats/${chatId}`;
    expect((await caller.patch(path, { outcome })).status).toBe(200);
    model.script("outcome-letter", worker([says("Hello."), says("Hello. Regards")]));
    const stream = await conversation.send("[script:outcome-letter] Write a letter.");
    await stream.ended;
    const verdicts = stream.chunks.flatMap((chunk) =>
      chunk.type === "data-outcome" ? [Object(chunk.data).verdict] : [],
    );
    expect(verdicts).toEqual(["unsatisfied", "satisfied"]);
  });
});
