/**
 * Generates conversations as they may be stored, in any state that stops, failures and strange servers leave behind,
 * and checks that the requests of their next turn follow the rules that all vendors have in common.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { UIMessage } from "ai";
import fc from "fast-check";
import { type Profile, structureViolation } from "../../../tests/support/fakes/strict-rules.ts";
import { PIXEL_PNG } from "../../../tests/support/fixtures/pixel.ts";
import { type ContextState, promptOf } from "../src/context.ts";
import { unitsOf } from "../src/conversation.ts";
import { acceptPrompts } from "../src/models/acceptable-prompt.ts";
import { signedFor } from "../src/signed-parts.ts";
import type { StepResult } from "../src/step-result.ts";
import { streamAnswer } from "../src/stream-answer.ts";
import { toolSchemas } from "../src/tools/index.ts";

const tools = toolSchemas({ headless: false });
const instructions = "You are an agent.";

/** Returns the rule that the request for the next answer breaks, and the request. */
export async function requestAfter(
  history: readonly UIMessage[],
  {
    steps = [],
    context = {},
    profile = "common",
    isAccepted = true,
  }: {
    steps?: readonly StepResult[];
    context?: ContextState;
    profile?: Profile;
    /** Whether the prompt is made acceptable. Default: true */
    isAccepted?: boolean;
  } = {},
) {
  const turn = { history, assistant_message_id: "own", steering: [] };
  const messages = signedFor(promptOf(await unitsOf(turn, steps, [], tools), context), "model");
  const sent: string[] = [];
  const server = createOpenAICompatible({
    name: "openai-compatible",
    baseURL: "http://model.test/v1",
    fetch: async (_, init) => {
      sent.push(String(init?.body));
      return new Response("data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } });
    },
  })("model");
  const answer = await streamAnswer({
    model: isAccepted ? acceptPrompts(server) : server,
    ...{ instructions, messages, tools, maxRetries: 0, write: () => {} },
    signal: new AbortController().signal,
  });
  const [text] = sent;
  if (text === undefined) return { violation: "failure" in answer && String(answer.failure) };
  const request = JSON.parse(text);
  return { request, violation: await structureViolation(request, profile) };
}

const strange = fc.constantFrom(
  "",
  " \n\t",
  "ok",
  "\ud83c",
  "🎵 \udfb5 text ",
  '"',
  '{"command":"ls"}',
  '{"command"',
  '"\\"{\\\\\\"command"',
  "[1]",
  "null",
  "\u0000",
);
const text = fc.oneof(strange, fc.string({ unit: "binary", maxLength: 12 }));
const toolName = fc.constantFrom(
  "bash",
  "read",
  "functions.bash",
  "bash<|channel|>commentary",
  "task",
  "9lives",
  "ü",
  "n".repeat(80),
);
const callId = fc.constantFrom(
  "call_0",
  "call_1",
  "functions.bash:0",
  "",
  "id with spaces",
  "x".repeat(90),
);
const value = fc.oneof(
  fc.constantFrom(undefined, null, 0, [], {}),
  text,
  fc.record({ command: text }),
  fc.dictionary(text, text, { maxKeys: 2 }),
);
const metadata = fc.option(
  fc.constantFrom(
    { agentPlatform: { modelId: "model" } },
    { agentPlatform: { modelId: "other/model" }, google: { thoughtSignature: "s" } },
    { agentPlatform: { modelId: "model" }, google: { thoughtSignature: "s" } },
  ),
  { nil: undefined },
);
const base64 = (content: string | Buffer) => Buffer.from(content).toString("base64");
const file = fc.record({
  type: fc.constant("file" as const),
  mediaType: fc.constantFrom("image/png", "image/jpeg", "application/pdf", "image/heic"),
  filename: fc.option(text, { nil: undefined }),
  url: fc
    .constantFrom(
      PIXEL_PNG,
      base64("<!doctype html>"),
      "",
      base64(Buffer.from(PIXEL_PNG, "base64").subarray(0, 50)),
      base64("%PDF-1.4 …"),
      base64("\x00\x00\x00\x18ftypheic"),
    )
    .map((data) => `data:image/png;base64,${data}`),
});
const call = fc
  .record({
    toolName,
    toolCallId: callId,
    state: fc.constantFrom(
      "input-streaming",
      "input-available",
      "approval-requested",
      "approval-responded",
      "output-available",
      "output-error",
      "output-denied",
    ),
    input: value,
    rawInput: fc.option(text, { nil: undefined }),
    output: value,
    isDynamic: fc.boolean(),
    callProviderMetadata: metadata,
  })
  .map(({ isDynamic, toolName: name, ...part }) => ({
    ...part,
    ...(isDynamic ? { type: "dynamic-tool", toolName: name } : { type: `tool-${name}` }),
    ...(part.state === "output-error" && { errorText: "It failed" }),
    ...(/approval|denied/.test(part.state) && { approval: { id: "a", approved: false } }),
  }));
const said = fc.record({ type: fc.constant("text"), text, providerMetadata: metadata });
const reasoned = fc.record({ type: fc.constant("reasoning"), text, providerMetadata: metadata });
const steered = fc.record({
  type: fc.constant("steering-message"),
  id: fc.constant("s"),
  parts: fc.array(fc.oneof(said, file), { maxLength: 2 }),
});
const stepStart = fc.constant({ type: "step-start" });
const message = fc.oneof(
  fc.record({
    role: fc.constant("user"),
    parts: fc.array(fc.oneof(said, file), { maxLength: 3 }),
  }),
  fc.record({
    role: fc.constant("assistant"),
    parts: fc.array(fc.oneof(stepStart, said, reasoned, call, call, file, steered), {
      maxLength: 8,
    }),
  }),
);
const history = fc.array(message, { minLength: 1, maxLength: 6 }).map((messages) => {
  const newest = { role: "user", parts: [{ type: "text", text: "Go on" }] };
  return [...messages, newest].map((each, id) => ({ ...each, id: `m${id}` })) as UIMessage[];
});
const place = fc.record({ messageId: fc.constantFrom("m0", "m1", "m2", "m3"), step: fc.nat(3) });
const context = fc.record(
  {
    clearedTo: place,
    reportsClearedTo: place,
    summary: fc.record({ text, to: place }),
  },
  { requiredKeys: [] },
);
/** The model calls of the turn itself, whose results a stop may have kept away. */
const steps = fc.array(
  fc
    .record({ toolName, toolCallId: callId, input: value, text, hasResult: fc.boolean() })
    .map(({ hasResult, text: own, ...each }) => ({
      messages: [
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: own },
            { type: "text", text: own },
            { type: "tool-call", ...each },
          ],
        },
        ...(hasResult
          ? [
              {
                role: "tool",
                content: [{ type: "tool-result", ...each, output: { type: "text", value: own } }],
              },
            ]
          : []),
      ],
    })),
  { maxLength: 3 },
) as unknown as fc.Arbitrary<StepResult[]>;

/** @param limits how often, or for how many milliseconds */
export const checkConversations = (limits: fc.Parameters<unknown>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(history, steps, context, async (messages, own, state) => {
      const { violation } = await requestAfter(messages, {
        steps: own,
        context: state as ContextState,
      });
      if (violation) throw new Error(JSON.stringify(violation));
    }),
    limits as fc.Parameters<[UIMessage[], StepResult[], object]>,
  );
