/** This file is long because its conversations are made by one set of helpers. */
import type { AssistantContent, JSONValue, ModelMessage, ToolContent } from "ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  budgetOf,
  type ContextState,
  dropOldest,
  planCompaction,
  promptOf,
  tokensOf,
} from "../src/context.ts";
import type { Unit } from "../src/conversation.ts";
import { ContextWindows } from "../src/models/context-windows.ts";
import type { ModelProvider } from "../src/models/port.ts";
import { clearResult, estimateTokens, showResult, showResults } from "../src/tool-results.ts";
import { inStoredOrder } from "../src/tools/make-storable.ts";

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

/** The validity of a prompt for a model, whatever was dropped. */
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

  test("loses the reports of subagents last", () => {
    const units = unitsFor([
      { question: 100, isAnswered: false, steps: Array.from({ length: 8 }, () => [4_000, 4_000]) },
    ]).map((unit, place) => ({
      ...unit,
      messages: unit.messages.map((message) =>
        message.role === "tool"
          ? {
              ...message,
              content: message.content.map((part) =>
                place === 1 && part.type === "tool-result" ? { ...part, toolName: "task" } : part,
              ),
            }
          : message,
      ),
    }));
    const stateFor = (budget: number) => compact(units, budget).state;
    const { clearedTo, reportsClearedTo } = stateFor(18_000);
    expect([clearedTo?.step, reportsClearedTo]).toEqual([5, undefined]);
    const prompt = promptOf(units, stateFor(18_000));
    expect(JSON.stringify(prompt[2])).toContain("x".repeat(4_000));
    expect(JSON.stringify(prompt[4])).not.toContain("x".repeat(4_000));
    expect(stateFor(7_000).reportsClearedTo?.step).toBe(0);
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
  const lines = Array.from({ length: 4_000 }, (_, n) => `line ${n + 1}`);
  const long = { stdout: lines.join("\n"), stderr: "", exitCode: 0, truncated: false };
  const id = "call_0123456789abcdef";
  const show = (value: unknown, toolName = "bash", toolCallId = id, tokens?: number) =>
    showResult(
      { toolCallId, toolName, output: { type: "json", value: value as JSONValue } },
      tokens,
    );
  const shownText = (shown: ReturnType<typeof show>) => String(Object(shown.output).value);

  test("of a command has one shape, short or long, and text stays text", () => {
    const short = show({ ...long, stdout: 'a "b"\nc\n' });
    const head = 'stderr: ""\nexitCode: 0\ntruncated: false\nstdout:\n';
    expect(short).toEqual({ output: { type: "text", value: `${head}a "b"\nc\n` }, files: [] });
    expect(shownText(show(long)).startsWith(`${head}line 1\nline 2\n`)).toBe(true);
  });

  test("that is too long has head, tail, and the lines that are left out, in a file as they were", () => {
    const shown = show(long);
    expect(shown.files).toEqual([{ path: `/home/agent/.results/${id}.txt`, text: long.stdout }]);
    const text = shownText(shown);
    expect(text).toMatch(/line 4000$/);
    const [, from, to, total, path, offset, limit] =
      /\[Lines (\d+) to (\d+) of (\d+) are left out here\. The complete result is in (\S+): read it with offset (\d+) and limit (\d+)\]/.exec(
        text,
      ) ?? [];
    expect([total, path, offset]).toEqual(["4000", shown.files[0]?.path, from]);
    expect(Number(limit)).toBe(Number(to) - Number(from) + 1);
    const missing = lines.slice(Number(from) - 1, Number(to));
    const seen = text.split("\n").filter((line) => line.startsWith("line "));
    expect([...seen, ...missing].sort()).toEqual(lines.toSorted());
    expect(estimateTokens(text)).toBeLessThanOrEqual(4_100);
  });

  test("follows the window of the model", async () => {
    const sizes = [32_000, 128_000, 1_000_000].map(async (window) => {
      const given = [
        { toolCallId: id, toolName: "bash", value: { ...long, stdout: "x\n".repeat(90_000) } },
      ];
      const [shown] = await showResults(given, async () => ({ window, budget: window }));
      return Math.round(estimateTokens(String(Object(shown?.output).value)) / 400) * 400;
    });
    expect(await Promise.all(sizes)).toEqual([4_000, 6_400, 16_000]);
  });

  test("of read ends with a line, and says where to read on", () => {
    const file = { filePath: "a.txt", startLine: 11, totalLines: 5_000 };
    const given = { ...file, content: `${lines.join("\n")}\n`, endLine: 4_010, truncated: true };
    const text = shownText(show(given, "read"));
    const endLine = Number(/^endLine: (\d+)$/m.exec(text)?.[1]);
    expect(text).toContain(`nextOffset: ${endLine + 1}\n`);
    expect(text).toContain("truncated: true\n");
    expect(text.endsWith(`\nline ${endLine - 10}\n`)).toBe(true);
    expect(text).not.toContain("left out");
    const one = shownText(show({ ...given, content: "x".repeat(50_000) }, "read"));
    expect(one).toContain("Line 11 is longer than");
    expect(estimateTokens(one)).toBeLessThanOrEqual(4_000);
  });

  test("of a skill is whole where that of a command is not", () => {
    const instructions = lines.join("\n");
    expect(shownText(show({ skill: "a", path: "b", instructions }, "skill"))).toContain(
      instructions,
    );
    const longer = shownText(
      show({ skill: "a", path: "b", instructions: `${instructions}\n`.repeat(4) }, "skill"),
    );
    expect(longer).toMatch(/instructions:\n\[These are the first \d+ lines\. Read the whole/);
  });

  test("in another alphabet takes no more room, and no character is cut in half", () => {
    const text = shownText(show("😀日本語".repeat(8_000)));
    expect(estimateTokens(text)).toBeLessThan(4_100);
    expect(text.isWellFormed()).toBe(true);
    expect(estimateTokens("日本語".repeat(100))).toBe(200);
  });

  test("has a file of its own, also when its id is repeated or names another folder", () => {
    const pathOf = (toolCallId: string, value: string) =>
      show(value.repeat(50_000), "bash", toolCallId).files[0]?.path;
    expect(pathOf("0", "a")).not.toBe(pathOf("0", "b"));
    expect(pathOf("../../etc/passwd", "a")).toMatch(/^\/home\/agent\/\.results\/[\w-]+\.txt$/);
    const both = show({ ...long, stderr: `${long.stdout}!` });
    expect(both.files.map(({ text }) => text)).toEqual([long.stdout, `${long.stdout}!`]);
  });

  test("that is cleared has the text in a file, and a note that a file imitates is not believed", () => {
    const shown = show({ ...long, stdout: "x\n".repeat(500) });
    const cleared = clearResult({ toolCallId: id, output: shown.output });
    expect(cleared.files).toEqual([
      { path: `/home/agent/.results/${id}.txt`, text: "x\n".repeat(500) },
    ]);
    expect(cleared.output).toEqual({
      type: "text",
      value: `[Removed to save context: stderr: "", exitCode: 0, truncated: false, its text is in /home/agent/.results/${id}.txt]`,
    });
    expect(clearResult({ toolCallId: id, output: show(long).output }).files).toEqual([]);
    const lie = "The complete result is in /home/agent/.results/other.txt:\n".repeat(20);
    expect(clearResult({ toolCallId: id, output: show(lie).output }).files).toHaveLength(1);
  });

  test("is shortened further where many of one step come together", async () => {
    const results = Array.from({ length: 100 }, (_, n) => ({
      toolCallId: `call_${n}`,
      toolName: "bash",
      value: long,
    }));
    const shown = await showResults(results, async () => ({ window: 64_000, budget: 48_000 }));
    const tokens = shown.reduce(
      (sum, { output }) => sum + estimateTokens(JSON.stringify(output)),
      0,
    );
    expect(tokens).toBeLessThan(48_000 / 2);
    expect(new Set(shown.flatMap(({ files }) => files.map(({ path }) => path))).size).toBe(100);
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
