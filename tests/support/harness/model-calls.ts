/** Model calls as the trace shows them, and as the fake of a vendor was sent them. */
import { expect } from "vitest";
import { z } from "zod";
import { modelCall } from "../../../lib/turns/model-call-contract.ts";
import { runTrace } from "../../../lib/turns/run-contract.ts";
import type { CallRecord } from "../fakes/openai.ts";
import type { Client } from "./clients.ts";

/** Expects that each model call of a chat's runs is shown exactly as it was sent. */
export async function expectAsSent(
  caller: Client,
  { chatId }: { readonly chatId: string },
  sent: readonly CallRecord[],
): Promise<void> {
  const { body } = await caller.get(`/api/chat/runs?chat_id=${chatId}`);
  const { runs } = z.object({ runs: z.array(z.object({ runId: z.string() })) }).parse(body);
  const calls: object[] = [];
  for (const { runId } of runs.toReversed()) {
    const steps = `/api/chat/runs/${runId}/steps`;
    for (const { index } of runTrace.parse((await caller.get(steps)).body).steps) {
      const call = modelCall.parse((await caller.get(`${steps}/${index}`)).body);
      const texts = call.messages.flatMap(({ parts }) => parts.map(({ text }) => text));
      calls.push({ ...call.as_sent, texts: joined([call.instructions.text, ...texts]) });
    }
  }
  const asSent = { instructions: true, messages: true, tools: true };
  const expected = sent.flatMap(textsOf).map((texts) => ({ ...asSent, texts: joined(texts) }));
  expect(calls).toEqual(expected);
}

/** Messages of one role in a row are sent as one. */
const joined = (texts: readonly string[]): string => texts.join("\n").replace(/\n+/g, "\n");

const parts = z.array(z.object({ text: z.string() }));
const toolCalls = z.array(z.object({ function: z.object({ arguments: z.string() }) }));

/** Returns the texts of a request in their order; none for a request without tools, which is for a summary. */
function textsOf({ messages, tools }: CallRecord): string[][] {
  if (tools.length === 0) return [];
  return [
    messages.flatMap(({ content, tool_calls }) => [
      ...(typeof content === "string"
        ? [content]
        : parts.parse(content ?? []).map(({ text }) => text)),
      ...toolCalls.parse(tool_calls ?? []).map((call) => call.function.arguments),
    ]),
  ];
}
