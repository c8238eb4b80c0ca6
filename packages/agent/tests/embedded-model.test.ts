import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { createEmbeddedModel } from "../src/models/adapters/embedded/create-embedded-model.ts";
import { decideReply, type Reply } from "../src/models/adapters/embedded/decide-reply.ts";
import { showResult } from "../src/tool-results.ts";

const everyTool = new Set(
  "bash read write grep glob todo task ask_user_question skill fetch".split(" "),
);

function ask(text: string): LanguageModelV4Prompt {
  return [
    { role: "system", content: "You are an agent" },
    { role: "user", content: [{ type: "text", text }] },
  ];
}

const callsOf = (reply: Reply) => reply.calls.map(({ tool, input }) => [tool, input]);
const textOf = (reply: Reply): string => [...reply.text].join("");

/** Plays the loop: every call is answered with `answer`, until the model only speaks. */
function play(text: string, answer: (tool: string, input: unknown) => unknown, tools = everyTool) {
  const prompt = ask(text);
  const steps: unknown[][] = [];
  for (let calls = 0; calls < 50; calls++) {
    const reply = decideReply(prompt, tools);
    if (reply.calls.length === 0) return { steps, text: textOf(reply) };
    steps.push(callsOf(reply));
    const ids = reply.calls.map((_, index) => `${calls}-${index}`);
    prompt.push({
      role: "assistant",
      content: reply.calls.map((call, index) => ({
        type: "tool-call",
        toolCallId: ids[index] ?? "",
        toolName: call.tool,
        input: call.input,
      })),
    });
    prompt.push({
      role: "tool",
      content: reply.calls.map((call, index) => ({
        type: "tool-result",
        toolCallId: ids[index] ?? "",
        toolName: call.tool,
        output: showResult({
          toolCallId: "call",
          toolName: call.tool,
          output: {
            type: "json",
            value: JSON.parse(JSON.stringify(answer(call.tool, call.input))),
          },
        }).output as { type: "text"; value: string },
      })),
    });
  }
  throw new Error("the model never came to an end");
}

const shell = (_: string, input: unknown) => ({
  exitCode: 0,
  stdout: `out of ${JSON.stringify(input)}\n`,
  stderr: "",
  truncated: false,
});

describe("a request becomes one call of the tool it names", () => {
  test.each<[string, string, Record<string, unknown>]>([
    ["run: ls -la; echo done, then more", "bash", { command: "ls -la; echo done, then more" }],
    ["run `ls`", "bash", { command: "ls" }],
    ["read notes.txt", "read", { filePath: "notes.txt" }],
    ["read `my notes.txt`", "read", { filePath: "my notes.txt" }],
    ["read a.txt lines 3 to 5", "read", { filePath: "a.txt", offset: 3, limit: 3 }],
    [
      'write "hello, and then read x" to notes.txt',
      "write",
      { filePath: "notes.txt", content: "hello, and then read x" },
    ],
    ["list files", "glob", { pattern: "**/*" }],
    ["list files matching **/*.ts in src", "glob", { pattern: "**/*.ts", path: "src" }],
    ["search for TODO", "grep", { pattern: "TODO" }],
    ["search for `a b` in src", "grep", { pattern: "a b", path: "src" }],
    ["fetch https://example.com/a?b=1", "fetch", { url: "https://example.com/a?b=1" }],
    [
      "use the skill press-kit with the new single",
      "skill",
      { skill: "press-kit", args: "the new single" },
    ],
    ["list skills", "skill", { skill: "list" }],
    [
      "delegate: run `ls` then read a.txt",
      "task",
      { task: "run `ls` then read a.txt", instructions: "run `ls` then read a.txt" },
    ],
    [
      "plan: draft, check, send",
      "todo",
      {
        todos: [
          { id: "1", content: "draft", status: "in_progress" },
          { id: "2", content: "check", status: "pending" },
          { id: "3", content: "send", status: "pending" },
        ],
      },
    ],
    [
      'ask me "Which format?" with options: album, single',
      "ask_user_question",
      {
        questions: [
          {
            question: "Which format?",
            header: "Which format",
            options: [
              { label: "album", description: "Choose album" },
              { label: "single", description: "Choose single" },
            ],
          },
        ],
      },
    ],
  ])("%s", (text, tool, input) => {
    expect(callsOf(decideReply(ask(text), everyTool))).toEqual([[tool, input]]);
  });
});

describe("several requests", () => {
  test.each([
    "run `a`, then run `b`; then read x",
    "run `a`\nrun `b`\nread x",
    "Run `a`. Then run `b`. Read x.",
    "run `a` and run `b` and then read x",
  ])("are done one after another: %j", (text) => {
    expect(play(text, shell).steps).toEqual([
      [["bash", { command: "a" }]],
      [["bash", { command: "b" }]],
      [["read", { filePath: "x" }]],
    ]);
  });

  test("are called together where it says so", () => {
    expect(play("run `a`, run `b` and read x at once", shell).steps).toEqual([
      [
        ["bash", { command: "a" }],
        ["bash", { command: "b" }],
        ["read", { filePath: "x" }],
      ],
    ]);
  });

  test("the report quotes what each brought, in order", () => {
    const { text } = play("run `a` then run `b`", shell);
    expect(text).toMatch(
      /^Running `a` printed:\n```\nout of \{"command":"a"\}.*\n```\n\nRunning `b` printed:\n/s,
    );
  });
});

describe("the report contains the results", () => {
  test.each<[string, unknown, string]>([
    ["run `x`", { error: "Stopped" }, "Running `x` was stopped."],
    ["run `x`", { error: "no such file" }, "Running `x` failed: no such file"],
    ['write "x" to a', { filePath: "a", bytes: 1, lines: 1 }, "Wrote 1 bytes to `a`."],
    [
      "delegate: run `a`",
      { result: "x ``` y", steps: 2 },
      "Delegating to a subagent gave:\n````\nsteps: 2\nresult:\nx ``` y\n````",
    ],
  ])("%s: %j", (request, result, report) => {
    expect(play(request, () => result).text).toBe(report);
  });

  test("a result that was dropped from the context is said to be gone", () => {
    const prompt = ask("run `a`");
    prompt.push({
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "1", toolName: "bash", input: {} }],
    });
    expect(textOf(decideReply(prompt, everyTool))).toBe(
      "The result of running `a` is no longer in my context.",
    );
  });
});

describe("text", () => {
  test("a request outside of the rules is answered with an introduction and the way to a real model", () => {
    const { text, steps } = play("What is the meaning of life?", shell);
    expect(steps).toEqual([]);
    expect(text).toMatch(/rule-based model: a small stand-in, not an AI/);
    expect(text).toMatch(/AI_GATEWAY_API_KEY.*OPENAI_BASE_URL/s);
  });

  test.each([
    "Make a release plan. Write it to release-plan.md.",
    "Write a playlist pitch. Ask me for the genre, mood and story first.",
    "Make a budget for a tour of six shows. Write it to tour-budget.csv and tell me where it breaks even.",
  ])("%s: is left to an AI", (request) => {
    const { text, steps } = play(request, shell);
    expect(steps).toEqual([]);
    expect(text).toContain("No AI model is connected");
  });

  test("counts and repeats with one delta an item", () => {
    const numbers = [...decideReply(ask("count to 200"), everyTool).text];
    expect(numbers).toHaveLength(200);
    expect(numbers.join("")).toBe(Array.from({ length: 200 }, (_, n) => n + 1).join(" "));
    expect([...decideReply(ask("repeat la 3 times"), everyTool).text]).toEqual([
      "la",
      " la",
      " la",
    ]);
  });

  test("a tool that the run does not have is not called", () => {
    const { steps, text } = play('ask me "A?"', shell, new Set(["bash"]));
    expect(steps).toEqual([]);
    expect(text).toContain("`ask_user_question`");
  });

  test("a request in an earlier turn is not done again", () => {
    const prompt = [...ask("run `a`"), ...ask("count to 2").slice(1)];
    expect(textOf(decideReply(prompt, everyTool))).toBe("1 2");
  });

  test.each([
    "`".repeat(50_000),
    "run ".repeat(12_000),
    '"'.repeat(50_000),
    " ".repeat(50_000),
    "run `a` and ".repeat(4_000),
    "a, ".repeat(16_000),
  ])("text made to keep patterns busy is answered (%#)", (text) => {
    expect(play(text, shell, new Set()).text).not.toBe("");
  });
});

test("streams what it generates", async () => {
  const model = createEmbeddedModel();
  const { stream } = await model.doStream({ prompt: ask("count to 5") });
  const deltas: string[] = [];
  for await (const part of stream) if (part.type === "text-delta") deltas.push(part.delta);
  const { content } = await model.doGenerate({ prompt: ask("count to 5") });
  expect(content).toEqual([{ type: "text", text: deltas.join("") }]);
});
