import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { PIXEL_PNG } from "../../../tests/support/fixtures/pixel.ts";
import { checkConversations, requestAfter } from "./acceptable-requests.ts";

const ask: UIMessage = { id: "u", role: "user", parts: [{ type: "text", text: "Hello" }] };
const again: UIMessage = { id: "v", role: "user", parts: [{ type: "text", text: "And now?" }] };
const answered = (...parts: object[]): UIMessage[] => [
  ask,
  { id: "a", role: "assistant", parts: [{ type: "step-start" }, ...parts] as UIMessage["parts"] },
  again,
];
const failed = (input: unknown, name = "bash") => ({
  ...{ type: "dynamic-tool", toolName: name, toolCallId: "c", state: "output-error", input },
  errorText: "Invalid input",
});
const withFile = (url: string, mediaType = "image/png"): UIMessage[] => [
  { ...ask, parts: [...ask.parts, { type: "file", mediaType, filename: "cover.png", url }] },
];

/** Histories that a strict server always rejects as stored, with the request sent instead. */
const histories: readonly [string, UIMessage[], object][] = [
  [
    "an answer of reasoning only",
    answered({ type: "reasoning", text: "Hm" }),
    [{ role: "user", content: "Hello\n\nAnd now?" }],
  ],
  [
    "a blank answer",
    answered({ type: "text", text: " \n" }),
    [{ role: "user", content: "Hello\n\nAnd now?" }],
  ],
  [
    "invalid input of a tool",
    answered(failed('{"command"')),
    expect.arrayContaining([
      expect.objectContaining({
        tool_calls: [
          expect.objectContaining({
            function: { name: "bash", arguments: JSON.stringify({ input: '{"command"' }) },
          }),
        ],
      }),
    ]),
  ],
  [
    "input that is a JSON text of a text",
    answered(failed('"{\\"command\\""')),
    expect.arrayContaining([
      expect.objectContaining({
        tool_calls: [
          expect.objectContaining({
            function: { name: "bash", arguments: JSON.stringify({ input: '"{\\"command\\""' }) },
          }),
        ],
      }),
    ]),
  ],
  [
    "empty input of a tool",
    answered(failed("")),
    expect.arrayContaining([
      expect.objectContaining({
        tool_calls: [expect.objectContaining({ function: { name: "bash", arguments: "{}" } })],
      }),
    ]),
  ],
  ...["functions.bash", "bash<|channel|>commentary"].map((name): [string, UIMessage[], object] => [
    `the invented tool ${name}`,
    answered(failed({}, name)),
    expect.arrayContaining([
      expect.objectContaining({
        tool_calls: [
          expect.objectContaining({
            function: { name: name.replace(/[^a-z]/g, "_"), arguments: "{}" },
          }),
        ],
      }),
    ]),
  ]),
  ...Object.entries({
    "HTML named .png": "PCFkb2N0eXBlIGh0bWw+",
    "an empty image": "",
    "HEIC named .png": "AAAAGGZ0eXBoZWlj",
    "an image that was cut": PIXEL_PNG.slice(0, 64),
  }).map(([name, data]): [string, UIMessage[], object] => [
    name,
    withFile(`data:image/png;base64,${data}`),
    [{ role: "user", content: expect.stringMatching(/Attached file: "cover.png" \(image/) }],
  ]),
];

describe("a request after", () => {
  test.each(histories)("%s is acceptable", async (_, history, sent) => {
    const { request, violation } = await requestAfter(history);
    expect(violation).toBe(undefined);
    expect(request.messages.slice(1)).toEqual(sent);
    expect((await requestAfter(history, { isAccepted: false })).violation).toBeTruthy();
  });
});

test("an image is sent with the type of its content", async () => {
  const { request } = await requestAfter(
    withFile(`data:image/jpeg;base64,${PIXEL_PNG}`, "image/jpeg"),
  );
  expect(request.messages[1].content[1].image_url.url).toMatch(/^data:image\/png;/);
});

test("ids of calls that a server uses again are unique, and keep their results", async () => {
  const call = (output: string) => ({
    ...{ type: "tool-bash", toolCallId: "call_0", state: "output-available", input: {} },
    output: { stdout: output },
  });
  const { request, violation } = await requestAfter([
    ...answered(call("one")),
    { id: "b", role: "assistant", parts: [call("two")] as UIMessage["parts"] },
    { ...again, id: "w" },
  ]);
  expect(violation).toBe(undefined);
  const results = request.messages.filter(({ role }: { role: string }) => role === "tool");
  expect(results[0].tool_call_id).toBe("call_0");
  expect(results[0].content).toContain("one");
  expect(results[1].tool_call_id).toMatch(/^call_[0-9a-f]{16}$/);
  expect(results[1].content).toContain("two");
});

test("any stored conversation leads to an acceptable request", async () => {
  await checkConversations({ numRuns: 300 });
});
