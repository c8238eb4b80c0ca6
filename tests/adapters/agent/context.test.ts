import type { AssistantContent, ModelMessage, ToolContent } from "ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  budgetOf,
  type ContextState,
  dropOldest,
  planCompaction,
  promptOf,
  tokensOf,
} from "@/lib/agent/context.ts";
import type { Unit } from "@/lib/agent/conversation.ts";
import { ContextWindows } from "@/lib/agent/models/context-windows.ts";
import type { ModelProvider } from "@/lib/agent/models/port.ts";
import { estimateTokens, resultText, showResult, showResults } from "@/lib/agent/tool-results.ts";
import { inStoredOrder } from "@/lib/agent/tools/make-storable.ts";

/** A turn: the user's text, steps with the lengths of their results, an answer. */
const turn = fc.record({
  question: fc.integer({ min: 1, max: 3_000 }),
  steps: fc.array(fc.array(fc.integer({ min: 0, max: 8_000 }), { minLength: 1, maxLength: 3 }), {
    maxLength: 8,
  }),
  isAnswered: fc.boolean(),
});
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

function unitsFor(turns: readonly Turn[]): Unit[] {
  let ids = 0;
  return turns.flatMap(({ question, steps, isAnswered }, index): Unit[] => [
    {
      messageId: `u${index}`,
      step: 0,
      role: "user",
      messages: [{ role: "user", content: [{ type: "text", text: "q".repeat(question) }] }],
    },
    ...steps.map((lengths, step): Unit => {
      const calls = lengths.map((length) => ({ toolCallId: `call-of-the-turn-${ids++}`, length }));
      const content: AssistantContent = calls.map(({ toolCallId }) => ({
        type: "tool-call",
        toolCallId,
        toolName: "bash",
        input: {},
      }));
      const results: ToolContent = calls.map(({ toolCallId, length }) => ({
        type: "tool-result",
        toolCallId,
        toolName: "bash",
        output: { type: "json", value: { stdout: "x".repeat(length) } },
      }));
      const messages: ModelMessage[] = [
        { role: "assistant", content },
        { role: "tool", content: results },
      ];
      return { messageId: `a${index}`, step, role: "assistant", messages };
    }),
    ...(isAnswered && index < turns.length - 1
      ? [
          {
            messageId: `a${index}`,
            step: steps.length,
            role: "assistant" as const,
            messages: [{ role: "assistant" as const, content: "done" }],
          },
        ]
      : []),
  ]);
}

const callIds = (messages: readonly ModelMessage[], role: "assistant" | "tool"): string[] =>
  messages.flatMap((message) =>
    message.role === role && Array.isArray(message.content)
      ? message.content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []))
      : [],
  );

/** What a model accepts, whatever was dropped. */
function expectValid(prompt: readonly ModelMessage[], units: readonly Unit[]): void {
  expect(prompt[0]?.role).toBe("user");
  expect(callIds(prompt, "tool")).toEqual(callIds(prompt, "assistant"));
  const request = units.findLast(({ role }) => role === "user")?.messages[0];
  const shown = prompt.findLast(({ role }) => role === "user");
  const texts = Array.isArray(shown?.content) ? shown.content.map((part) => Object(part).text) : [];
  const asked = Array.isArray(request?.content) ? Object(request.content[0]).text : undefined;
  expect(texts.at(-1)).toBe(asked);
}

/** Compacts as often as needed, as a turn does. */
function compact(units: readonly Unit[], budget: number, first: ContextState = {}) {
  let state = first;
  const kinds: string[] = [];
  for (;;) {
    const estimated = tokensOf(promptOf(units, state));
    const plan = planCompaction(units, state, { tokens: estimated, estimated, budget });
    if (!plan) return { state, kinds };
    kinds.push(plan.kind);
    expect(kinds.length).toBeLessThan(5);
    state =
      plan.kind === "cleared" ? plan.state : { ...plan.state, summary: { text: "s", to: plan.to } };
  }
}

describe("a compacted conversation", () => {
  const turns = fc.array(turn, { minLength: 1, maxLength: 8 });
  const budget = fc.integer({ min: 8_000, max: 40_000 });

  test("is one that a model accepts, and ends in a few passes", () => {
    fc.assert(
      fc.property(turns, budget, (given, tokens) => {
        const units = unitsFor(given);
        const { state } = compact(units, tokens);
        expectValid(promptOf(units, state), units);
        const newest = units.at(-1);
        if (newest?.role !== "assistant") return;
        // The newest results are complete.
        expect(promptOf(units, state).slice(-newest.messages.length)).toEqual(newest.messages);
      }),
    );
  });

  test("fits while each step does, and seldom changes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6_000 }),
        fc.integer({ min: 20, max: 120 }),
        (length, count) => {
          const all = unitsFor([
            {
              question: 200,
              steps: Array.from({ length: count }, () => [length]),
              isAnswered: false,
            },
          ]);
          let state: ContextState = {};
          let changes = 0;
          for (let steps = 1; steps <= count; steps++) {
            const units = all.slice(0, steps + 1);
            const compacted = compact(units, 48_000, state);
            ({ state } = compacted);
            changes += compacted.kinds.length > 0 ? 1 : 0;
            const prompt = promptOf(units, state);
            expect(tokensOf(prompt)).toBeLessThanOrEqual(36_000);
            expectValid(prompt, units);
          }
          expect(changes).toBeLessThanOrEqual(count / 6);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("keeps its state while the conversation grows, and loses it on a branch", () => {
    const units = unitsFor(
      Array.from({ length: 12 }, () => ({ question: 8_000, steps: [[100]], isAnswered: true })),
    );
    const { state, kinds } = compact(units, 16_000);
    expect(kinds).toContain("summarized");
    const prompt = promptOf(units, state);
    const more = [...units, ...unitsFor([{ question: 1, steps: [], isAnswered: false }])];
    expect(promptOf(more, state).slice(0, prompt.length)).toEqual(prompt);
    const branch = units.slice(0, 3);
    expect(promptOf(branch, state)).toEqual(branch.flatMap(({ messages }) => messages));
  });

  test("that ends within an answer starts with the question and the summary in the next turn", () => {
    const all = unitsFor([
      { question: 400, isAnswered: true, steps: Array.from({ length: 40 }, () => [2_000]) },
      { question: 400, isAnswered: true, steps: [[100]] },
    ]);
    const first = all.filter(({ messageId }) => messageId.endsWith("0"));
    const summary = { text: "s", to: { messageId: "a0", step: 30 } };
    const state = { clearedTo: { messageId: "a0", step: 20 }, summary };
    const prompt = promptOf(first, state);
    expect(prompt).toHaveLength(1 + 9 * 2 + 1);
    expect(promptOf(all, state).slice(0, prompt.length)).toEqual(prompt);
    expect(JSON.stringify(promptOf(all, state)[0])).toContain("<summary>");
    expectValid(promptOf(all, state), all);
    const { state: later } = compact(all, 4_000, state);
    expectValid(promptOf(all, later), all);
  });

  test("without a summary gives what fits, or the newest request alone", () => {
    fc.assert(
      fc.property(turns, fc.integer({ min: 1, max: 6_000 }), (given, room) => {
        const units = unitsFor(given);
        expectValid(promptOf(units, dropOldest(units, {}, room)), units);
      }),
    );
    const units = unitsFor([
      { question: 400, steps: [[4_000]], isAnswered: true },
      { question: 400, steps: [], isAnswered: false },
    ]);
    expect(promptOf(units, dropOldest(units, {}, 600))).toHaveLength(5);
    expect(promptOf(units, dropOldest(units, {}, 1))).toHaveLength(1);
  });
});

describe("a result", () => {
  const long = {
    stdout: Array.from({ length: 4_000 }, (_, n) => `line ${n}`).join("\n"),
    exitCode: 0,
  };

  test("of more than 8,000 characters is shown by head, tail and path", () => {
    const { output, file } = showResult("call_0123456789abcdef", { type: "json", value: long });
    expect(file?.path).toBe("/home/agent/.results/call_0123456789abcdef.txt");
    expect(file?.text).toBe(resultText({ type: "json", value: long }));
    const text = String(Object(output).value);
    expect(text).toMatch(/^exitCode: 0\nstdout:\nline 0\n/);
    expect(text).toMatch(/line 3999$/);
    expect(text).toContain(
      "The complete result is in /home/agent/.results/call_0123456789abcdef.txt",
    );
    expect(estimateTokens(text)).toBeLessThan(1_600);
    const short = { type: "json" as const, value: { stdout: "x".repeat(7_900) } };
    expect(showResult("call", short)).toEqual({ output: short });
  });

  test("in another alphabet takes no more room, and no character is cut in half", () => {
    const { output } = showResult("call", { type: "json", value: "😀日本語".repeat(4_000) });
    const text = String(Object(output).value);
    expect(estimateTokens(text)).toBeLessThan(1_600);
    expect(text.isWellFormed()).toBe(true);
  });

  test("has a file of its own, also when its id is repeated or names another folder", () => {
    const pathOf = (id: string, value: string) =>
      showResult(id, { type: "json", value: value.repeat(10_000) }).file?.path;
    expect(pathOf("0", "a")).not.toBe(pathOf("0", "b"));
    expect(pathOf("../../etc/passwd", "a")).toMatch(/^\/home\/agent\/\.results\/[\w-]+\.txt$/);
  });

  test("is shortened further where many of one step come together", async () => {
    const results = Array.from({ length: 100 }, (_, n) => ({
      toolCallId: `call_${n}`,
      value: long,
    }));
    const shown = await showResults(results, async () => 48_000);
    const tokens = shown.reduce(
      (sum, { output }) => sum + estimateTokens(JSON.stringify(output)),
      0,
    );
    expect(tokens).toBeLessThan(48_000 / 2);
    expect(new Set(shown.map(({ file }) => file?.path)).size).toBe(100);
  });
});

test("what a model says of its window counts for the account whose request it rejected", async () => {
  const models = { list: async () => null } as unknown as ModelProvider;
  const windows = new ContextWindows(models, 128_000);
  windows.learn("one", "model", 8_000);
  expect(await windows.of("one", ["model"])).toBe(8_000);
  expect(await windows.of("two", ["model"])).toBe(128_000);
});

test("a value is put into the order of storage however deeply it is nested", () => {
  const deep = JSON.parse(`${'{"b":0,"a":'.repeat(4_000)}1${"}".repeat(4_000)}`);
  expect(JSON.stringify(inStoredOrder(deep))).toMatch(/^\{"a":\{"a":/);
});

test("the budget leaves a reserve for the answer, and the caller may lower it", () => {
  expect(budgetOf(64_000, null)).toBe(48_000);
  expect(budgetOf(200_000, null)).toBe(168_000);
  expect(budgetOf(200_000, 10_000)).toBe(10_000);
});
