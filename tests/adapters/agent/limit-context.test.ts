import type { AssistantContent, ModelMessage, ToolContent } from "ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens, limitContext, OMITTED } from "@/lib/agent/limit-context.ts";

/** A turn: the user's text, model calls with tools and results, an answer. */
const turn = fc
  .record({
    question: fc.string({ maxLength: 200 }),
    steps: fc.array(fc.array(fc.string({ maxLength: 2_000 }), { minLength: 1, maxLength: 3 }), {
      maxLength: 4,
    }),
    answer: fc.option(fc.string({ minLength: 1, maxLength: 500 }), { nil: undefined }),
  })
  .map(({ question, steps, answer }) => ({ question, steps, answer }));

let ids = 0;
const conversation = fc.array(turn, { minLength: 1, maxLength: 6 }).map((turns) =>
  turns.flatMap(({ question, steps, answer }): ModelMessage[] => [
    { role: "user", content: question },
    ...steps.flatMap((results): ModelMessage[] => {
      const calls = results.map((result) => ({ id: `call-${ids++}`, result }));
      const content: AssistantContent = calls.map(({ id }) => ({
        type: "tool-call",
        toolCallId: id,
        toolName: "bash",
        input: {},
      }));
      const outputs: ToolContent = calls.map(({ id, result }) => ({
        type: "tool-result",
        toolCallId: id,
        toolName: "bash",
        output: { type: "text", value: result },
      }));
      return [
        { role: "assistant", content },
        { role: "tool", content: outputs },
      ];
    }),
    ...(answer === undefined ? [] : [{ role: "assistant" as const, content: answer }]),
  ]),
);

const callIds = (messages: readonly ModelMessage[], role: "assistant" | "tool"): string[] =>
  messages.flatMap((message) =>
    message.role === role && Array.isArray(message.content)
      ? message.content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []))
      : [],
  );
const resultsOf = (messages: readonly ModelMessage[]): unknown[] =>
  messages
    .flatMap((message) => (message.role === "tool" ? message.content : []))
    .map((part) => Object(part).output?.value);
const newestTurn = (messages: readonly ModelMessage[]) =>
  messages.slice(messages.findLastIndex((message) => message.role === "user"));

describe("limitContext", () => {
  test("gives what fits, or the newest turn without its results, and every call keeps its result", () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 1, max: 4_000 }), (messages, tokens) => {
        const limited = limitContext(messages, tokens);
        const starts = limited.filter((message) => message.role === "user");
        if (estimateTokens(limited) > tokens) {
          expect(starts).toHaveLength(1);
          const longest = Math.max(
            0,
            ...resultsOf(limited).map((text) => JSON.stringify(text).length),
          );
          expect(longest).toBeLessThanOrEqual(JSON.stringify(OMITTED).length);
        }
        expect(callIds(limited, "tool")).toEqual(callIds(limited, "assistant"));
        expect(limited.at(0)?.role).toBe("user");
        expect(newestTurn(limited)[0]).toEqual(newestTurn(messages)[0]);
        expect(newestTurn(limited)).toHaveLength(newestTurn(messages).length);
      }),
    );
  });

  test("changes nothing that need not be changed: no limit, or room for all", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(limitContext(messages, undefined)).toBe(messages);
        expect(limitContext(messages, estimateTokens(messages))).toBe(messages);
      }),
    );
  });

  test("a smaller budget never keeps more", () => {
    fc.assert(
      fc.property(
        conversation,
        fc.integer({ min: 1, max: 4_000 }),
        fc.integer({ min: 1, max: 400 }),
        (messages, tokens, less) => {
          const more = estimateTokens(limitContext(messages, tokens + less));
          expect(estimateTokens(limitContext(messages, tokens))).toBeLessThanOrEqual(more);
        },
      ),
    );
  });

  test("old results go before old turns, and new results last", () => {
    const result = (id: string): ModelMessage[] => [
      { role: "user", content: `question ${id}` },
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: id, toolName: "bash", input: {} }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: id,
            toolName: "bash",
            output: { type: "text", value: "x".repeat(4_000) },
          },
        ],
      },
    ];
    const messages = [...result("1"), ...result("2"), ...result("3")];
    const omitted = (tokens: number) =>
      resultsOf(limitContext(messages, tokens)).map((value) => value === OMITTED);
    expect(omitted(2_500)).toEqual([true, false, false]);
    expect(omitted(1_500)).toEqual([true, true, false]);
    expect(omitted(400)).toEqual([true, true, true]);
    expect(omitted(1)).toEqual([true]);
  });

  test("a system message stays, wherever it is", () => {
    const system: ModelMessage = { role: "system", content: "be good" };
    const messages: ModelMessage[] = [
      system,
      { role: "user", content: "x".repeat(400) },
      { role: "user", content: "now" },
    ];
    expect(limitContext(messages, 40)).toEqual([system, { role: "user", content: "now" }]);
  });
});
