import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { unitsOf } from "../src/conversation.ts";

describe("the units of a conversation", () => {
  test("of a stored answer are those that its turn had", async () => {
    const call = (id: string) => ({
      type: "tool-bash" as const,
      toolCallId: id,
      state: "output-available" as const,
      input: { command: "true" },
      output: { stdout: id },
    });
    const history: UIMessage[] = [
      { id: "u", role: "user", parts: [{ type: "text", text: "hello" }] },
      {
        id: "a",
        role: "assistant",
        parts: [
          { type: "data-compaction", data: {} },
          { type: "step-start" },
          call("1"),
          call("2"),
          { type: "step-start" },
          { type: "text", text: "done" },
        ],
      },
    ];
    const units = await unitsOf({ history, assistant_message_id: "b", steering: [] }, [], [], {});
    expect(
      units.map(({ messageId, step, messages }) => [messageId, step, messages.length]),
    ).toEqual([
      ["u", 0, 1],
      ["a", 0, 2],
      ["a", 1, 1],
    ]);
  });

  test("of an answer that was steered are the same in its turn and later", async () => {
    const said = (text: string) => ({ type: "text" as const, text });
    const answered = (text: string) => ({
      messages: [{ role: "assistant" as const, content: [said(text)] }],
      calls: [],
      hasInvalidCall: false,
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      finishReason: "stop",
    });
    const question: UIMessage = { id: "u", role: "user", parts: [said("hello")] };
    const steering = [
      { id: "s1", step: 1, parts: [said("louder")] },
      { id: "s2", step: 1, parts: [said("and faster")] },
      { id: "s3", step: 2, parts: [said("enough")] },
    ];
    const inTurn = await unitsOf(
      { history: [question], assistant_message_id: "a", steering },
      [answered("one"), answered("two")],
      [],
      {},
    );
    const shown = steering.map(({ id, parts }) => ({
      type: "steering-message" as const,
      id,
      parts,
    }));
    const step = { type: "step-start" as const };
    const parts = [step, said("one"), ...shown.slice(0, 2), step, said("two"), ...shown.slice(2)];
    const later = await unitsOf(
      {
        history: [question, { id: "a", role: "assistant", parts }],
        assistant_message_id: "b",
        steering: [],
      },
      [],
      [],
      {},
    );
    expect(later).toEqual(inTurn);
    expect(later.map(({ messageId, step: at, role }) => [messageId, at, role])).toEqual([
      ["u", 0, "user"],
      ["a", 0, "assistant"],
      ["a", 1, "user"],
      ["a", 2, "assistant"],
      ["a", 3, "user"],
    ]);
  });
});
