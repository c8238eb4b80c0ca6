/** The model server of `eval replay`, without an installation. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startModelServer } from "../../packages/client/src/cli/eval/model-server.ts";
import type { RecordedStep, Recording } from "../../packages/client/src/cli/eval/recording.ts";
import { freePort } from "../../scripts/free-port.ts";

const part = (
  type: RecordedStep["answer"][number]["type"],
  text: string,
  id: string | null = null,
) => ({
  ...{ type, text, cut_chars: 0, tool_call_id: id, tool_name: id && "bash" },
});
const lines = (first: number) =>
  Array.from({ length: 100 }, (_, n) => `line ${first + n}`).join("\n");

const recording: Recording = {
  ...{ recorded: "by hand", model: "recorded-model", context_window: 64_000 },
  works: [
    {
      prompt: "Sum the statement.",
      steps: [
        {
          answer: [part("tool_call", '{"command":"ls"}', "a")],
          messages: 1,
          tools: ["bash"],
          results: [],
        },
        {
          ...{ answer: [part("text", "12.")], messages: 3, tools: ["bash", "read"] },
          results: [part("tool_result", lines(0), "a"), part("tool_result", "gone", "b")],
        },
      ],
    },
    {
      prompt: "Sum the statement. Report the total.",
      steps: [
        { answer: [part("text", "By a subagent.")], messages: 1, tools: ["bash"], results: [] },
      ],
    },
  ],
};

let served: Awaited<ReturnType<typeof startModelServer>>;
let url: string;
beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}/v1`;
  served = await startModelServer(new Map([["sums", recording]]), port);
});
afterAll(() => served.server.close());

const bash = [{ function: { name: "bash" } }];
const ask = async (messages: readonly object[], tools: readonly object[] = bash) => {
  const body = JSON.stringify({ model: "m", stream: true, messages, tools });
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body });
  return { status: response.status, text: await response.text() };
};
const user = (content: unknown) => ({ role: "user", content });

it("answers by the newest prompt and the answers after it, and lists its model", async () => {
  const prompt = user([{ type: "text", text: "[Facts] Sunday.\n\nSum the statement." }]);
  const first = await ask([{ role: "system", content: "Sum the statement." }, prompt]);
  expect(first.text).toContain('"id":"a","type":"function","function":{"name":"bash"');
  expect(first.text.trim().split("\n").at(-1)).toBe("data: [DONE]");
  const subagent = await ask([user("Sum the statement. Report the total.")]);
  expect(subagent.text).toContain("By a subagent.");
  expect(served.steps.flatMap(({ differences }) => differences)).toEqual([]);
  const models = await (await fetch(`${url}/models`)).json();
  expect(models.data).toMatchObject([{ id: "recorded-model", max_model_len: 64_000 }]);
});

it("reports results, tools and messages that differ, in a few lines", async () => {
  const before = served.steps.length;
  const answered = await ask([
    user("Sum the statement."),
    { role: "assistant", tool_calls: [{ id: "a" }] },
    { role: "tool", tool_call_id: "a", content: lines(50) },
    user("[Note]"),
  ]);
  expect(answered.text).toContain("12.");
  const [step] = served.steps.slice(before);
  expect(step).toMatchObject({ case: "sums", step: 2 });
  const [tool, count, differs = "", missing] = step?.differences ?? [];
  expect([tool, count]).toEqual(["The tool read is gone", "4 messages in place of 3"]);
  expect(missing).toBe("The result of bash is missing");
  const shown = differs.split("\n");
  expect(shown).toHaveLength(1 + 2 * 11);
  expect(shown.slice(0, 2)).toEqual(["The result of bash differs", "- line 0"]);
  expect(shown.slice(10, 13)).toEqual(["- line 9", "- (40 more lines)", "+ line 100"]);
});

it.each([
  ["an unknown prompt", [user("Sing.")], bash],
  [
    "a request after the end",
    [user("Sum the statement."), ...Array(2).fill({ role: "assistant" })],
    bash,
  ],
  ["a title", [user("Title of: Sum the statement.")], []],
])("refuses %s", async (_, messages, tools) => {
  expect((await ask(messages, tools)).status).toBe(400);
});
