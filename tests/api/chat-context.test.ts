/** The used context of a chat, and its compaction on request. */
import { randomUUID } from "node:crypto";
import { unpricedModel } from "@platform/endpoint/contract/quota";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type FakeOpenAI, gate } from "../support/fakes/openai.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Answer, createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { expectAsSent } from "../support/harness/model-calls.ts";
import { joinWorkspace, type SharedWorkspace } from "../support/harness/shared-workspace.ts";
import { sql } from "../support/harness/stack.ts";

const kind = z.enum(["system", "skills", "messages", "tool_results", "summary"]);
const context = z.strictObject({
  status: z.literal("success"),
  model: z.literal("fake-64k"),
  window: z.literal(64_000),
  budget: z.literal(48_000),
  tokens: z.int().positive(),
  parts: z.array(z.strictObject({ kind, tokens: z.int().positive() })),
});
type Context = z.output<typeof context>;
const compacted = context.extend({
  compaction: z
    .strictObject({
      kind: z.enum(["cleared", "summarized"]),
      tokens_before: z.int(),
      tokens_after: z.int(),
    })
    .nullable(),
});

let workspace: SharedWorkspace;
let model: FakeOpenAI;
beforeAll(async () => {
  workspace = await joinWorkspace();
  model = workspace.model;
});
afterAll(() => workspace?.stop());

async function open() {
  const person = await createPerson(workspace.server.url);
  const { withKey: caller } = person;
  const conversation = await openConversation(caller);
  const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
  await caller.patch(path, { modelId: "fake-64k" });
  const script = `context-${randomUUID()}`;
  return {
    ...{ person, caller, conversation, path, script },
    context: async () => {
      const answer = await caller.get(`${path}/context`);
      expect(answer.status, answer.text).toBe(200);
      const body = context.parse(answer.body);
      expect(body.parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(body.tokens);
      return body;
    },
    compact: () => caller.post(`${path}/compact`),
    say: async (text: string) => {
      const stream = await conversation.send(text);
      await stream.ended;
      expect(stream.chunks.at(-1), stream.text.slice(-500)).toMatchObject({ type: "finish" });
    },
    /** The requests for summaries. */
    summaries: () => model.callsOf(script).filter(({ tools }) => tools.length === 0),
    recorded: () => sql`select kind, turn_id from compactions
      where chat_id = ${conversation.chatId} order by id`,
    setBudget: (usd: number | null) =>
      sql`update accounts set monthly_budget_usd = ${usd} where id = ${person.id}`,
  };
}
type Opened = Awaited<ReturnType<typeof open>>;

const tokensOf = ({ parts }: Context, kind: Context["parts"][number]["kind"]): number =>
  parts.find((part) => part.kind === kind)?.tokens ?? 0;

/** Stores a conversation of 24,000 tokens, which a turn does not compact yet. */
async function fill({ conversation, script }: Opened): Promise<void> {
  const roles = Array.from({ length: 6 }, () => ["user", "assistant"]).flat();
  const rows = roles.map((role, place) => ({
    chat_id: conversation.chatId,
    id: `m${place}`,
    role,
    parts: sql.json([{ type: "text", text: `[script:${script}] ${"a long story ".repeat(620)}` }]),
    created_at: new Date(Date.now() - 60_000 + place),
  }));
  await sql`insert into messages ${sql(rows)}`;
}

describe("GET /api/sessions/{sessionId}/chats/{chatId}/context 200", () => {
  it("has the instructions and tools of a new chat, then its messages", async () => {
    const opened = await open();
    const empty = await opened.context();
    expect(empty.parts.map(({ kind }) => kind)).toEqual(["system", "skills"]);
    expect((await opened.compact()).body).toEqual({ ...empty, compaction: null });
    await opened.conversation.send("hello").then(({ ended }) => ended);
    const answered = await opened.context();
    expect(answered.parts.map(({ kind }) => kind)).toEqual(["system", "skills", "messages"]);
    expect(tokensOf(answered, "system") + tokensOf(answered, "skills")).toBe(empty.tokens);
  });

  it("is what the next turn sends, also after the instructions of the chat have changed", async () => {
    const opened = await open();
    await fill(opened);
    const before = await opened.context();
    await opened.caller.patch(opened.path, { instructions: "Be brief. ".repeat(400) });
    const instructed = await opened.context();
    expect(tokensOf(instructed, "system") - tokensOf(before, "system")).toBeGreaterThan(900);
    model.script(opened.script, function* () {
      yield { text: "Done." };
    });
    await opened.say(`[script:${opened.script}]`);
    const sent = model.callsOf(opened.script).at(-1)?.usage?.prompt_tokens;
    expect(Math.abs((sent ?? 0) - instructed.tokens) / instructed.tokens).toBeLessThan(0.2);
  });
});

describe("POST /api/sessions/{sessionId}/chats/{chatId}/compact 200", () => {
  it("clears the results of tools, then summarizes, then has nothing left to do", async () => {
    const opened = await open();
    const { script, conversation } = opened;
    const commands = Array.from({ length: 4 }, (_, n) => ({
      tool: "bash",
      input: { command: `for i in $(seq 700); do printf 'royalties${n}'; done` },
    }));
    model.script(script, function* ({ tools, step, userText }) {
      if (tools.length === 0) yield { text: "## Goal\nTo count royalties." };
      else if (step < 3 && !userText.includes("Go on")) yield* commands;
      else yield { text: "Done." };
    });
    await opened.say(`[script:${script}] Count them.`);
    const full = await opened.context();
    expect(full.tokens).toBeGreaterThan(24_000);

    const cleared = compacted.parse((await opened.compact()).body);
    expect(cleared.compaction).toEqual({
      ...{ kind: "cleared", tokens_before: full.tokens, tokens_after: cleared.tokens },
    });
    expect(cleared.tokens).toBeLessThanOrEqual(24_000);
    expect(tokensOf(cleared, "messages")).toBe(tokensOf(full, "messages"));
    expect(tokensOf(cleared, "tool_results")).toBeLessThan(tokensOf(full, "tool_results"));
    expect(opened.summaries()).toHaveLength(0);
    expect({ ...(await opened.context()), compaction: cleared.compaction }).toEqual(cleared);

    const summarized = compacted.parse((await opened.compact()).body);
    expect(summarized.compaction).toMatchObject({
      ...{ kind: "summarized", tokens_before: cleared.tokens, tokens_after: summarized.tokens },
    });
    expect(tokensOf(summarized, "summary")).toBeGreaterThan(0);
    expect(opened.summaries()).toHaveLength(1);
    expect(await opened.recorded()).toEqual([
      { kind: "cleared", turn_id: null },
      { kind: "summarized", turn_id: null },
    ]);

    const again = compacted.parse((await opened.compact()).body);
    expect(again).toEqual({ ...summarized, compaction: null });
    expect(opened.summaries()).toHaveLength(1);

    // The next turn gets it, and the file of a cleared result.
    await opened.say(`[script:${script}] Go on.`);
    const { messages } =
      model.callsOf(script).findLast(({ step, tools }) => step === 0 && tools.length > 0) ?? {};
    expect(messages?.map(({ role }) => role).slice(0, 2)).toEqual(["system", "user"]);
    expect(JSON.stringify(messages?.[1])).toContain("To count royalties.");
    const results = `/api/sandbox/files?sessionId=${conversation.sessionId}&path=.results`;
    expect((await opened.caller.get(results)).text).toMatch(/\.txt"/);
    // The stored conversation has everything, and no message says that it was compacted.
    const stored = JSON.stringify((await conversation.read()).messages);
    expect(stored.match(/royalties0/g)?.length).toBeGreaterThan(700);
    expect(stored).not.toContain("data-compaction");
    await expectAsSent(opened.caller, conversation, model.callsOf(script));
  });

  it("counts the summary as the account's usage, and not as a run", async () => {
    const opened = await open();
    await fill(opened);
    model.script(opened.script, function* () {
      yield { text: "## Goal\nTo listen." };
    });
    const { status, text } = await opened.compact();
    expect(status, text).toBe(200);
    const [summary] = opened.summaries();
    expect((await opened.caller.get("/api/usage")).body).toMatchObject({
      totals: {
        ...{ runs: 0, steps: 1, input_tokens: summary?.usage?.prompt_tokens },
        output_tokens: summary?.usage?.completion_tokens,
      },
    });
  });
});

describe("POST /api/sessions/{sessionId}/chats/{chatId}/compact 402", () => {
  it("refuses an account that has spent its budget, and a model that it may not use", async () => {
    const opened = await open();
    await fill(opened);
    model.script(opened.script, function* () {
      yield { text: "## Goal\nTo listen." };
    });
    await opened.setBudget(0);
    const spent = await opened.compact();
    expectError(spent, 402, "error", "Monthly budget reached", "budget_reached");
    await opened.setBudget(10);
    const unpriced = await opened.compact();
    expectError(unpriced, 402, "error", unpricedModel.message, "unpriced_model");
    expect(opened.summaries()).toHaveLength(0);
    expect(await opened.recorded()).toEqual([]);
    // The refused requests keep no lease.
    await opened.setBudget(null);
    expect((await opened.compact()).status).toBe(200);
  });
});

describe("POST /api/sessions/{sessionId}/chats/{chatId}/compact 409", () => {
  const streaming = "A response is streaming for this chat: wait for its end, or stop it";

  it("refuses while a turn is active", async () => {
    const opened = await open();
    await fill(opened);
    const turn = gate();
    model.script(opened.script, async function* () {
      await turn.pass();
      yield { text: "Done." };
    });
    const stream = await opened.conversation.send(`[script:${opened.script}] hello`);
    await turn.reached;
    expectError(await opened.compact(), 409, "error", streaming, "conflict");
    turn.open();
    await stream.ended;
    expect((await opened.compact()).status).toBe(200);
  });

  it("pays for one summary of three requests, and refuses the others", async () => {
    const opened = await open();
    await fill(opened);
    const summary = gate();
    model.script(opened.script, async function* () {
      await summary.pass();
      yield { text: "## Goal\nTo listen." };
    });
    const answers: Answer[] = [];
    const requests = [1, 2, 3].map(async () => answers.push(await opened.compact()));
    await expect.poll(() => answers.length, { timeout: 90_000 }).toBe(2);
    const text = "The chat is being compacted: wait for the end";
    for (const refused of answers) expectError(refused, 409, "error", text, "conflict");
    summary.open();
    await Promise.all(requests);
    expect(answers.at(-1)?.status).toBe(200);
    expect(opened.summaries()).toHaveLength(1);
    expect(await opened.recorded()).toHaveLength(1);
  });

  it.each([
    ["runs", streaming],
    ["has ended", "The chat has changed while it was compacted: request it again"],
  ])(
    "records nothing but the usage if a turn has started in the meantime and %s",
    async (state, text) => {
      const opened = await open();
      await fill(opened);
      const [summary, turn] = [gate(), gate()];
      model.script(opened.script, async function* ({ tools }) {
        await (tools.length === 0 ? summary : turn).pass();
        yield { text: "## Goal\nTo listen." };
      });
      const compacting = opened.compact();
      await summary.reached;
      const stream = await opened.conversation.send(`[script:${opened.script}] hello`);
      await turn.reached;
      if (state === "has ended") {
        turn.open();
        await stream.ended;
      }
      summary.open();
      expectError(await compacting, 409, "error", text, "conflict");
      turn.open();
      await stream.ended;
      expect(await opened.recorded()).toEqual([]);
      const usage = await sql`select tool from usage_entries
      where account_id = ${opened.person.id} order by tool`;
      expect(usage.map(({ tool }) => tool)).toEqual([-1, 0]);
      expect((await opened.compact()).status).toBe(200);
    },
  );
});
