/** Faulty model responses, and how the turn handles them. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Script } from "../../support/fakes/openai.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import { sharedLogs } from "../../support/harness/shared-workspace.ts";
import { sql } from "../../support/harness/stack.ts";
import {
  assemble,
  expectCompleteTurn,
  type TurnStream,
  textOf,
} from "../../support/harness/turn-stream.ts";

const place = provideChatServer();
let caller: Client;
beforeAll(async () => {
  caller = (await createPerson(place.server.url)).withKey;
});

/** The name of a script of this file, on the server that it shares with others. */
const named = (name: string) => `fault-${name}`;
const callsOf = (name: string) => place.model.callsOf(named(name));

async function run(
  name: string,
  script: Script,
): Promise<{ conversation: Conversation; stream: TurnStream }> {
  place.model.script(named(name), script);
  const conversation = await openConversation(caller);
  const stream = await conversation.send(`[script:${named(name)}]`);
  await stream.ended;
  expect(stream.isDone).toBe(true);
  expectCompleteTurn(stream.frames);
  const { isStreaming } = await conversation.read();
  expect(isStreaming).toBe(false);
  expect(await assemble(stream.chunks)).toEqual(await conversation.answer());
  return { conversation, stream };
}

const errorsOf = (stream: TurnStream) =>
  stream.chunks.filter((chunk) => chunk.type === "error").map((chunk) => chunk.errorText);

/** The vendor's own words never reach a client. */
const SECRET = "quota of org-4711 exceeded";

describe("a model that", () => {
  it("answers 400: the turn ends with an error in our words, and the chat continues", async () => {
    const { conversation, stream } = await run("refuses", function* () {
      yield { fail: 400, message: SECRET };
    });
    expect(errorsOf(stream)).toHaveLength(1);
    expect(JSON.stringify(stream.chunks)).not.toContain("4711");
    expect(JSON.stringify(await conversation.read())).not.toContain("4711");
    const [turn] = await sql`select id from turns where chat_id = ${conversation.chatId}`;
    const lines = (await sharedLogs()).split("\n").filter((line) => line.includes(turn?.id));
    expect(lines.join("\n")).toContain("model call failed");
    expect(await sharedLogs()).not.toContain("[script:fault-refuses]");
    expect(await conversation.answer()).toMatchObject({ metadata: { finishReason: "error" } });
    const next = await conversation.send("still there?");
    await next.ended;
    expect(textOf(await conversation.answer())).toBe("You said: still there?");
  });

  it.each([
    [429, SECRET, "The model provider is rate limiting requests. Try again in a moment."],
    [
      401,
      SECRET,
      "The model provider rejected this server's API key. Ask your administrator to check it.",
    ],
    [
      402,
      SECRET,
      "The credit with the model provider is used up. Ask your administrator to add some.",
    ],
    [404, SECRET, "The model is not available at its provider: choose another one"],
    [504, SECRET, "The model did not answer in time: try again"],
    [
      400,
      `${SECRET}: maximum context length is 128000 tokens`,
      "conversation_too_long: The newest message alone is too long for this model: shorten it, or choose a model with a larger context",
    ],
  ])("answers %i (%s): the error tells the cause and the remedy", async (fail, message, text) => {
    const { stream } = await run(`fault-${fail}`, function* () {
      yield { fail, message, headers: { "retry-after-ms": "1" } };
    });
    expect(errorsOf(stream)).toEqual([text]);
  });

  it.each([
    ["breaks off", { cut: true }],
    ["reports an error", { fail: 500, message: SECRET }],
  ] as const)("%s in mid-text, every time: the turn ends with an error", async (what, fault) => {
    const { conversation, stream } = await run(what.replaceAll(" ", "-"), function* () {
      yield { text: "so far " };
      yield fault;
    });
    expect(errorsOf(stream)).toHaveLength(1);
    expect(JSON.stringify(stream.chunks)).not.toContain("4711");
    const stored = await conversation.answer();
    expect(["", "so far "]).toContain(textOf(stored));
  });

  it("breaks off after a call, before it was run: the call is not run", async () => {
    const { conversation } = await run("cut-call", function* () {
      yield { tool: "bash", input: { command: "echo no > ran" } };
      yield { cut: true };
    });
    const calls = (await conversation.answer()).parts.filter((part) => part.type === "tool-bash");
    for (const call of calls) expect(call).toMatchObject({ state: "output-error" });
    place.model.script("fault-read-missing", function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: { command: "cat ran" } };
    });
    const stream = await conversation.send("[script:fault-read-missing]");
    await stream.ended;
    expect(JSON.stringify(stream.chunks)).toContain("No such file");
  });

  it("stops in the middle of a call's input: the turn ends, the call closed", async () => {
    const { conversation } = await run("half-call", function* () {
      yield { tool: "bash", rawInput: '{"command": "echo' };
      yield { cut: true };
    });
    const stored = await conversation.answer();
    for (const part of stored.parts) {
      if (part.type === "tool-bash") expect(part.state).toBe("output-error");
    }
  });

  it("sends malformed input: it receives an error and can try again", async () => {
    const { conversation } = await run("malformed", function* ({ step }) {
      if (step === 0) yield { tool: "bash", rawInput: '{"command": ' };
      else if (step === 1) yield { tool: "bash", input: { comand: "echo typo" } };
      else if (step === 2) yield { tool: "bash", input: { command: "echo right" } };
      else yield { text: "got it" };
    });
    const stored = await conversation.answer();
    const calls = stored.parts.filter((part) => part.type === "tool-bash");
    expect(calls.map((call) => "state" in call && call.state)).toEqual([
      "output-error",
      "output-error",
      "output-available",
    ]);
    expect(textOf(stored)).toBe("got it");
    const received = callsOf("malformed")[1]?.toolResults.join(" ") ?? "";
    expect(received).not.toBe("");
  });

  it("mixes a good call with a bad one: both have an outcome", async () => {
    const { conversation } = await run("mixed", function* ({ step }) {
      if (step === 0) {
        yield { tool: "todo", input: { todos: [] } };
        yield { tool: "todo", input: { todos: "all of them" } };
      } else yield { text: "done" };
    });
    const calls = (await conversation.answer()).parts.filter((part) => part.type === "tool-todo");
    expect(calls.map((call) => "state" in call && call.state).sort()).toEqual([
      "output-available",
      "output-error",
    ]);
    expect(callsOf("mixed")[1]?.toolResults).toHaveLength(2);
  });

  it("gives every call the same id: each is run, and has its own result", async () => {
    const { conversation } = await run("same-id", function* ({ step }) {
      if (step < 3) {
        yield { tool: "bash", id: "call_0", input: { command: `echo ${step} | tee -a all` } };
      } else yield { text: "done" };
    });
    const outputs = (await conversation.answer()).parts.flatMap((part) =>
      part.type === "tool-bash" && "output" in part ? [part.output] : [],
    );
    expect(outputs).toMatchObject([{ stdout: "0\n" }, { stdout: "1\n" }, { stdout: "2\n" }]);
  });

  it("returns no content: an empty answer is stored", async () => {
    const { conversation, stream } = await run("mute", function* () {});
    expect(errorsOf(stream)).toEqual([]);
    expect(textOf(await conversation.answer())).toBe("");
    const next = await conversation.send("and now?");
    await next.ended;
    expect(textOf(await conversation.answer())).toBe("You said: and now?");
  });

  it("says what no database stores: it is stored as it is shown", async () => {
    const { conversation } = await run("unstorable", function* () {
      yield { text: "nul \0 and half a pair \ud83d." };
    });
    expect(textOf(await conversation.answer())).toContain("nul ");
  });

  it("reaches its length limit: the finish reason is reported", async () => {
    const { conversation, stream } = await run("long", function* () {
      yield { text: "cut off" };
      yield { finish: "length" };
    });
    expect(stream.chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "length" });
    expect(await conversation.answer()).toMatchObject({ metadata: { finishReason: "length" } });
  });
});
