/**
 * The requests to the model, and the chat that a turn leaves behind. This file is long because all
 * its tests share one server and its model.
 */
import { withoutFacts } from "@platform/agent/facts";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelCall } from "../../../lib/turns/model-call-contract.ts";
import { parseMarkdown } from "../../../packages/documents/src/markdown.ts";
import { writePdf } from "../../../packages/documents/src/write-pdf.ts";
import { type ChatMessage, type FakeOpenAI, startFakeOpenAI } from "../../support/fakes/openai.ts";
import { makeImage } from "../../support/fixtures/encoded-media.ts";
import { PIXEL_PNG } from "../../support/fixtures/pixel.ts";
import { scannedPdf } from "../../support/fixtures/scanned-pdf.ts";
import { createTemplate } from "../../support/fixtures/templates.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import {
  openChat,
  openConversation,
  type StoredMessage,
} from "../../support/harness/conversation.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";
import { startServer } from "../../support/harness/server.ts";
import { sql } from "../../support/harness/stack.ts";
import { textOf } from "../../support/harness/turn-stream.ts";

let model: FakeOpenAI;
let server: Awaited<ReturnType<typeof startServer>>;
let caller: Client;
beforeAll(async () => {
  model = await startFakeOpenAI();
  server = await startServer({ env: { OPENAI_BASE_URL: model.url, PROMPT_CACHE_KEY: "true" } });
  caller = (await createPerson(server.url)).withKey;
});
afterAll(async () => {
  await model.close();
  await server.stop();
});

/** Role and text of the sent messages, without the system prompt. */
const sentTo = (messages: readonly ChatMessage[] | undefined) =>
  (messages ?? [])
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => [
      role,
      typeof content === "string" ? withoutFacts(content) : undefined,
    ]);

const contextParts = z.object({
  parts: z.array(z.object({ kind: z.string(), tokens: z.number() })),
});

const newestCall = () => model.calls.at(-1)?.messages;

const systemPrompt = (call = model.calls.at(-1)) =>
  String(call?.messages.find(({ role }) => role === "system")?.content);

describe("files of a message", () => {
  const dataUrl = (type: string, bytes: string | Buffer) =>
    `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
  const csv = (text: string, filename = "statement.csv") => ({
    type: "file",
    mediaType: "text/csv",
    filename,
    url: dataUrl("text/csv", text),
  });
  const storedFiles = (messages: readonly StoredMessage[]) =>
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "file" ? [part] : [])));
  const contentOf = async (sessionId: string, path: string) => {
    const query = new URLSearchParams({ sessionId, path });
    return (await caller.get(`/api/sandbox/files/content?${query}`)).text;
  };
  const newestUser = () => JSON.stringify(newestCall()?.findLast(({ role }) => role === "user"));

  it("land in the sandbox, are named to the model, and leave the message small", async () => {
    const conversation = await openConversation(caller);
    const statement = `track,units\n${"Harbor Lights,1204\n".repeat(500)}`;
    const parts = [{ type: "text", text: "look" }, csv(statement)];
    await (await conversation.send([{ id: "m1", parts }])).ended;
    expect(newestUser()).toContain("uploads/statement.csv");
    expect(newestUser()).not.toContain("base64");
    const { messages } = await conversation.read();
    expect(storedFiles(messages)).toEqual([
      {
        type: "file",
        mediaType: "text/csv",
        filename: "statement.csv",
        url: "sandbox:/home/agent/uploads/statement.csv",
      },
    ]);
    expect(await contentOf(conversation.sessionId, "uploads/statement.csv")).toBe(statement);
  });

  it("of one name get a number, unless they are the same", async () => {
    const conversation = await openConversation(caller);
    const name = "../../a/..b c;$(x).csv";
    const parts = [csv("1", name), csv("2", name), csv("1", name)];
    await (await conversation.send([{ id: "m1", parts }])).ended;
    await (await conversation.send([{ id: "m2", parts: [csv("2", name)] }])).ended;
    const { messages } = await conversation.read();
    expect(storedFiles(messages).map(({ url }) => String(url).split("/").at(-1))).toEqual([
      "b c___x_.csv",
      "b c___x_-2.csv",
      "b c___x_.csv",
      "b c___x_-2.csv",
    ]);
  });

  it("that are images are shown, also later and by their path in the sandbox", async () => {
    const conversation = await openConversation(caller);
    const png = dataUrl("image/png", Buffer.from(PIXEL_PNG, "base64"));
    const image = { type: "file", mediaType: "image/png", url: png };
    await (await conversation.send([{ id: "m1", parts: [image] }])).ended;
    expect(newestUser()).toContain(png);
    await (await conversation.send("and now?")).ended;
    expect(JSON.stringify(newestCall())).toContain(png);
    const other = await openChat(conversation, caller);
    const url = "sandbox:/home/agent/uploads/file.png";
    await (await other.send([{ id: "m1", parts: [{ ...image, url }] }])).ended;
    expect(newestUser()).toContain(png);
    expect(newestUser()).toContain("uploads/file.png");
  });

  it("that are PDFs are shown to models that read them, with each fallback, and named to others", async () => {
    const conversation = await openConversation(caller);
    const { bytes } = await writePdf(parseMarkdown("# Licence"));
    const pdf = dataUrl("application/pdf", Buffer.from(bytes));
    const part = (filename: string, url: string) => ({
      ...{ type: "file", mediaType: "application/pdf", filename, url },
    });
    const damaged = part("damaged.pdf", dataUrl("application/pdf", "%PDF-1.7 damaged"));
    const address = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    await caller.patch(address, { modelId: "fake-pdf" });
    await (await conversation.send([{ id: "m1", parts: [part("licence.pdf", pdf), damaged] }]))
      .ended;
    const file = { filename: "licence.pdf", file_data: pdf };
    expect(model.calls.at(-1)?.messages.at(-1)?.content).toMatchObject([
      { type: "text", text: expect.stringContaining("uploads/licence.pdf") },
      { type: "file", file },
      { type: "text", text: expect.stringContaining("uploads/damaged.pdf") },
    ]);
    await caller.patch(address, { fallback_models: ["fake-small"] });
    await (await conversation.send("and now?")).ended;
    expect(JSON.stringify(newestCall())).toContain("uploads/licence.pdf");
    expect(JSON.stringify(newestCall())).not.toContain("base64");
  });

  it("that are scanned PDFs are shown by their pages to models that read images", async () => {
    const conversation = await openConversation(caller);
    const [width, height] = [500, 700];
    // The left half is black; the second page is a bitmap, and turned.
    const pixels = Buffer.from(
      Array.from({ length: width * height }, (_, at) => (at % width < 250 ? 0 : 255)),
    );
    const rowBytes = Math.ceil(width / 8);
    const bits = Buffer.from(
      Array.from({ length: rowBytes * height }, (_, at) => (at % rowBytes < 31 ? 0 : 255)),
    );
    const scan = scannedPdf([
      { width, height, pixels },
      { width, height, pixels: bits, bits: 1, rotate: 90 },
      { width: 50, height: 50, pixels: pixels.subarray(0, 2_500) },
    ]);
    const address = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    await caller.patch(address, { modelId: "fake-vision" });
    const file = { type: "file", mediaType: "application/pdf", filename: "scan.pdf" };
    const { bytes: text } = await writePdf(parseMarkdown("# Licence"));
    const parts = [scan, text].map((bytes) => ({
      ...file,
      url: dataUrl(file.mediaType, Buffer.from(bytes)),
    }));
    await (await conversation.send([{ id: "m1", parts }])).ended;
    const content = z
      .array(
        z.looseObject({ type: z.string(), image_url: z.object({ url: z.string() }).optional() }),
      )
      .parse(model.calls.at(-1)?.messages.at(-1)?.content);
    expect(JSON.stringify(content)).toContain("It has 3 pages without text.");
    const images = content.flatMap(({ image_url }) => image_url?.url ?? []);
    expect(images).toHaveLength(2);
    const corners = await Promise.all(
      images.map(async (url) => {
        const png = sharp(Buffer.from(url.split(",")[1] ?? "", "base64"));
        const { data, info } = await png.raw().toBuffer({ resolveWithObject: true });
        const at = (x: number, y: number) => data[(y * info.width + x) * info.channels];
        return [
          info.width,
          info.height,
          at(10, 10),
          at(info.width - 10, 10),
          at(10, info.height - 10),
        ];
      }),
    );
    expect(corners).toEqual([
      [500, 700, 0, 255, 0],
      [700, 500, 0, 0, 255],
    ]);

    // The agent reads the same file, and an image, in another chat.
    const { sessionId } = conversation;
    const other = await openChat(conversation, caller);
    const otherAddress = `/api/sessions/${sessionId}/chats/${other.chatId}`;
    await caller.patch(otherAddress, { modelId: "fake-vision" });
    const query = new URLSearchParams({ sessionId, path: "cover.png" });
    const body = new Uint8Array(await makeImage());
    await fetch(`${caller.url}/api/sandbox/files/content?${query}`, {
      ...{ method: "PUT", headers: caller.headers, body },
    });
    model.script("look", function* ({ step }) {
      if (step > 0) return yield { text: "Seen." };
      yield { tool: "read", input: { filePath: "uploads/scan.pdf", offset: 2 } };
      yield { tool: "read", input: { filePath: "cover.png" } };
    });
    const look = await other.send("[script:look]");
    await look.ended;
    const [, seen] = model.callsOf("look");
    expect(seen?.toolResults[0]).toContain("pages 2.");
    expect(seen?.toolResults[1]).toContain("PNG image, 320 x 180 px");
    const urls = [...JSON.stringify(seen?.messages.at(-1)).matchAll(/data:(image\/\w+);base64/g)];
    expect(urls.map(([, type]) => type)).toEqual(["image/png", "image/jpeg"]);
    expect(look.text + JSON.stringify(await other.read())).not.toContain("base64");
    const call = modelCall.parse((await caller.get(`/api/chat/runs/${look.runId}/steps/1`)).body);
    expect(call.as_sent).toEqual({ instructions: true, messages: true, tools: true });
    const shown = call.messages
      .at(-1)
      ?.parts.slice(1)
      .map(({ type, text }) => [type, text]);
    expect(shown).toEqual(urls.map(([, type]) => ["file", type]));

    await caller.patch(otherAddress, { modelId: "fake-model" });
    await (await other.send("[script:look] again")).ended;
    const named = model.callsOf("look").at(-1);
    for (const result of named?.toolResults ?? []) {
      expect(result).toMatch(/not shown, because the model of this chat does not read images/);
    }
    expect(named?.toolResults).toHaveLength(2);
    expect(JSON.stringify(named?.messages)).not.toContain("base64");
  });

  it("that are in a conversation of the client land once, and its messages keep nothing", async () => {
    const conversation = await openConversation(caller);
    const entries = [
      { id: "m1", role: "user" as const, parts: [csv("1")] },
      { id: "a1", role: "assistant" as const, parts: [{ type: "text", text: "I see" }] },
      { id: "m2", role: "user" as const, parts: [csv("2")] },
    ];
    await (await conversation.send(entries)).ended;
    const sent = JSON.stringify(newestCall());
    expect(sent).toContain("uploads/statement.csv");
    expect(sent).toContain("uploads/statement-2.csv");
    expect(JSON.stringify(await conversation.read())).not.toContain("base64");
  });

  it.each(["file:///etc/passwd", "sandbox:/etc/passwd", "http://127.0.0.1/", "data:nothing"])(
    "at %s are refused",
    async (url) => {
      const { sessionId, chatId } = await openConversation(caller);
      const parts = [{ type: "file", mediaType: "text/csv", url }];
      const body = { sessionId, chatId, messages: [{ id: "m1", parts }] };
      expect(await caller.post("/api/chat", body)).toMatchObject({
        status: 400,
        body: {
          message: "A file of the last message must have a data, https or sandbox:/home/agent/ URL",
        },
      });
    },
  );

  it("that cannot be fetched are named to the model, and the chat continues", async () => {
    const conversation = await openConversation(caller);
    const url = "https://user:hunter2@127.0.0.1:1/cover.png?X-Signature=hunter2";
    const image = { type: "file", mediaType: "image/png", filename: "cover.png", url };
    const entries = [
      { id: "m1", parts: [image] },
      { id: "a1", role: "assistant" as const, parts: [image] },
      { id: "m2", parts: [{ type: "text", text: "look" }, image] },
    ];
    await (await conversation.send(entries)).ended;
    expect(newestUser()).toContain("could not be fetched from its URL");
    await (await conversation.send("and now?")).ended;
    expect(sentTo(newestCall()).at(-1)).toEqual(["user", "and now?"]);
    expect(JSON.stringify(newestCall())).toContain("could not be fetched from its URL");
    expect(JSON.stringify(model.calls)).not.toContain("hunter2");
    expect(server.logs()).not.toContain("hunter2");
  });

  it("that are missing, or outside the home, are only named", async () => {
    const conversation = await openConversation(caller);
    const url = "sandbox:/home/agent/../../etc/passwd";
    const parts = [{ type: "file", mediaType: "image/png", url }];
    await (await conversation.send([{ id: "m1", parts }])).ended;
    expect(newestUser()).not.toContain("base64");
    expect((await conversation.answer()).parts.length).toBeGreaterThan(0);
  });
});

describe("the facts of a turn", () => {
  it("are before the newest message in all its calls, and stay in later turns what they were", async () => {
    const person = await createPerson(server.url);
    await person.withKey.patch("/api/accounts/me", { timezone: "Asia/Tokyo" });
    await sql`update accounts set name = 'Mara Vale' where id = ${person.id}`;
    model.script("facts-first", function* ({ step }) {
      if (step < 2) yield { tool: "bash", input: { command: "echo hello" } };
      else yield { text: "Done." };
    });
    const conversation = await openConversation(person.withKey);
    await (await conversation.send("[script:facts-first] What is next Friday?")).ended;
    const calls = model.callsOf("facts-first").map(({ messages }) => messages);
    expect(calls).toHaveLength(3);
    for (const [place, messages] of calls.entries()) {
      expect(messages.slice(0, calls[0]?.length)).toEqual(calls[0]);
      expect(String(messages[1]?.content), `call ${place}`).toMatch(
        /^\[Facts from the platform, not from the user\] \w+, \d+ \w+ 20\d\d, \d\d:\d\d, Asia\/Tokyo\. User: "Mara Vale"\.\n\n\[script:facts-first\] What/,
      );
    }
    await person.withKey.patch("/api/accounts/me", { timezone: null });
    await (await conversation.send("And then?")).ended;
    const later = newestCall() ?? [];
    expect(later.slice(0, calls[2]?.length)).toEqual(calls[2]);
    expect(String(later.at(-1)?.content)).toContain("UTC (the account has set no time zone)");
    expect(JSON.stringify(later[0])).not.toContain("Tokyo");
  });
});

describe("one entry", () => {
  it("is the new turn after the stored history, and every request names its chat", async () => {
    const conversation = await openConversation(caller);
    await (await conversation.send("one")).ended;
    await (await conversation.send("two")).ended;
    await (await conversation.send("three")).ended;
    expect(sentTo(newestCall())).toEqual([
      ["user", "one"],
      ["assistant", "You said: one"],
      ["user", "two"],
      ["assistant", "You said: two"],
      ["user", "three"],
    ]);
    expect(model.calls.slice(-3).map(({ cacheKey }) => cacheKey)).toEqual(
      Array.from({ length: 3 }, () => conversation.chatId),
    );
    const { messages } = await conversation.read();
    expect(messages.map((message) => textOf(message))).toEqual([
      "one",
      "You said: one",
      "two",
      "You said: two",
      "three",
      "You said: three",
    ]);
  });

  it("brings the tool calls of former turns with their results", async () => {
    const conversation = await openConversation(caller);
    await (await conversation.send("[tools:2]")).ended;
    await (await conversation.send("thanks")).ended;
    const roles = (newestCall() ?? []).map(({ role }) => role);
    expect(roles.filter((role) => role === "tool")).toHaveLength(2);
    expect(roles.at(-1)).toBe("user");
  });
});

describe("several entries", () => {
  it("have their own roles, whatever options a client gives to their parts", async () => {
    const conversation = await openConversation(caller);
    const options = { openaiCompatible: { role: "system" }, agentPlatform: { modelId: "auto" } };
    const text = (words: string) => ({ type: "text", text: words, providerMetadata: options });
    const call = {
      ...{ type: "tool-bash", toolCallId: "call-1", state: "output-available" },
      ...{ input: { command: "true" }, output: { stdout: "out" } },
      ...{ callProviderMetadata: options, resultProviderMetadata: options },
    };
    await (
      await conversation.send([
        { id: "a", role: "user", parts: [text("earlier question")] },
        { id: "b", role: "assistant", parts: [call, text("earlier answer")] },
        { id: "c", role: "user", parts: [text("newest question")] },
      ])
    ).ended;
    const roles = newestCall()?.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "tool", "user"]);
  });

  it("are the whole conversation as the client wants it; only the last is stored", async () => {
    const conversation = await openConversation(caller);
    await (await conversation.send("forget this")).ended;
    const stream = await conversation.send([
      { id: "a", role: "user", content: "earlier question" },
      { id: "b", role: "assistant", content: "earlier answer" },
      { id: "c", role: "user", parts: [{ type: "text", text: "newest question" }] },
    ]);
    await stream.ended;
    expect(sentTo(newestCall())).toEqual([
      ["user", "earlier question"],
      ["assistant", "earlier answer"],
      ["user", "newest question"],
    ]);
    const { messages } = await conversation.read();
    expect(messages.map((message) => textOf(message))).toEqual([
      "forget this",
      "You said: forget this",
      "newest question",
      "You said: newest question",
    ]);
    expect(messages[2]?.id).toBe("c");
  });

  it("leave no call without a result in what the model is sent", async () => {
    const conversation = await openConversation(caller);
    const stream = await conversation.send([
      { id: "a", content: "run it" },
      {
        id: "b",
        role: "assistant",
        parts: [
          {
            type: "tool-bash",
            toolCallId: "open",
            state: "input-available",
            input: { command: "ls" },
          },
        ],
      },
      { id: "c", content: "well?" },
    ]);
    await stream.ended;
    expect(stream.isDone).toBe(true);
    expect((newestCall() ?? []).map(({ role }) => role).filter((role) => role === "tool")).toEqual([
      "tool",
    ]);
  });
});

describe("contextLimit", () => {
  it("takes old results first, then old turns, and keeps system prompt and newest message", async () => {
    const conversation = await openConversation(caller);
    const long = "x".repeat(4_000);
    model.script("long-result", function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: { command: "printf 'x%.0s' $(seq 4000)" } };
      else yield { text: "done" };
    });
    await (await conversation.send("[script:long-result]")).ended;
    await (await conversation.send(`a long one ${"y".repeat(2_000)}`)).ended;

    await (await conversation.send("the newest")).ended;
    const whole = newestCall() ?? [];
    expect(JSON.stringify(whole.filter(({ role }) => role === "tool"))).toContain(long);

    const { sessionId, chatId } = conversation;
    const path = `/api/sessions/${sessionId}/chats/${chatId}/context`;
    const { parts } = contextParts.parse((await caller.get(path)).body);
    const fixed = parts.filter(({ kind }) => kind === "system" || kind === "skills");
    const contextLimit = fixed.reduce((sum, { tokens }) => sum + tokens, 1_700);
    await (await conversation.send("the newest", { context: { contextLimit } })).ended;
    const lighter = newestCall() ?? [];
    expect(lighter.map(({ role }) => role)).toContain("tool");
    expect(JSON.stringify(lighter.filter(({ role }) => role === "tool"))).not.toContain(long);

    await (await conversation.send("the newest", { context: { contextLimit: 1 } })).ended;
    const least = newestCall() ?? [];
    expect(least.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(sentTo(least)).toEqual([["user", "the newest"]]);
    expect(least[0]?.content).toEqual(whole[0]?.content);
  });
});

describe("an untitled chat", () => {
  it("takes the first user text, one line, at most 80 characters; later ones change nothing", async () => {
    const conversation = await openConversation(caller);
    await (await conversation.send(`  A title \n\t with ${"wörds 🎵 ".repeat(20)}`)).ended;
    const { title } = (await conversation.read()).chat;
    expect(title).toMatch(/^A title with wörds 🎵 wörds/u);
    expect([...title].length).toBeLessThanOrEqual(80);
    expect(title).toBe(title.trim());
    await (await conversation.send("another")).ended;
    expect((await conversation.read()).chat.title).toBe(title);
  });

  it("keeps a title that it was given", async () => {
    const conversation = await openConversation(caller);
    await caller.patch(`/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`, {
      title: "Mine",
    });
    await (await conversation.send("hello")).ended;
    expect((await conversation.read()).chat.title).toBe("Mine");
  });
});

describe("an answer's metadata", () => {
  it("names the model and sums the usage of all its calls", async () => {
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[tools:2]");
    await stream.ended;
    const calls = model.calls.filter((call) => call.userText === "[tools:2]").slice(-3);
    expect(calls).toHaveLength(3);
    const { metadata } = await conversation.answer();
    expect(metadata).toEqual({
      modelId: expect.any(String),
      usage: {
        inputTokens: expect.any(Number),
        outputTokens: expect.any(Number),
        totalTokens: expect.any(Number),
      },
      durationMs: expect.any(Number),
      finishReason: "stop",
    });
    const { usage } = metadata as { usage: Record<string, number> };
    expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
    const sent = calls.reduce((sum, call) => sum + (call.usage?.prompt_tokens ?? 0), 0);
    expect(usage.inputTokens).toBe(sent);
    expect(stream.chunks.at(-1)).toMatchObject({ type: "finish", messageMetadata: metadata });
  });
});

describe("a chat's model", () => {
  it("is the one that was chosen for it", async () => {
    const conversation = await openConversation(caller);
    const chosen = await caller.patch(
      `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`,
      {
        modelId: "fake-small",
      },
    );
    expect(chosen.status, chosen.text).toBe(200);
    await (await conversation.send("hello")).ended;
    expect(model.calls.at(-1)?.model).toBe("fake-small");
    expect(await conversation.answer()).toMatchObject({ metadata: { modelId: "fake-small" } });
  });
});

describe("the tools", () => {
  it("leave their files to the next turn, and to the next chat of the session", async () => {
    const conversation = await openConversation(caller);
    model.script("leave", function* ({ step }) {
      const filePath = "kept.txt";
      if (step === 0) yield { tool: "write", input: { filePath, content: "lost" } };
      else if (step === 1) {
        yield { tool: "edit", input: { filePath, oldString: "lost", newString: "kept" } };
      } else yield { text: "ok" };
    });
    model.script("find", function* ({ step }) {
      if (step === 0) yield { tool: "read", input: { filePath: "kept.txt" } };
      else yield { text: "ok" };
    });
    await (await conversation.send("[script:leave]")).ended;
    const next = await conversation.send("[script:find]");
    await next.ended;
    const outputs = next.chunks.filter((chunk) => chunk.type === "tool-output-available");
    expect(JSON.stringify(outputs)).toContain("kept");
  });
});

describe("instructions", () => {
  const prompt = "Answer as the planner of a release.";

  it("of the chat and its template reach the model from the next turn on, until they are removed", async () => {
    const template = await createTemplate(caller, { prompt, is_private: true });
    const conversation = await openConversation(caller);
    const change = async (changes: unknown) => {
      const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
      expect((await caller.patch(path, changes)).status).toBe(200);
      await (await conversation.send("hello")).ended;
      return systemPrompt();
    };
    expect(await change({ instructions: " Be brief. ", templateId: template.id })).toContain(
      `\n\n${prompt}\n\nBe brief.`,
    );
    expect(await change({ title: "Kept" })).toContain(`${prompt}\n\nBe brief.`);
    expect(await change({ templateId: "" })).not.toContain(prompt);
    expect(systemPrompt()).toContain("Be brief.");
    expect(await change({ instructions: "" })).not.toContain("Instructions for this conversation");
  });

  it("stay what they were when the turn started", async () => {
    const template = await createTemplate(caller, { prompt });
    model.script("changed-meanwhile", async function* ({ step }) {
      if (step > 0) return yield { text: "done" };
      await caller.patch(`/api/agents/templates/${template.id}`, { prompt: `${prompt} Later.` });
      yield { tool: "todo", input: { todos: [] } };
    });
    const run = await startRun(caller, {
      prompt: "[script:changed-meanwhile]",
      template_id: template.id,
      instructions: "In German.",
    });
    expect((await waitForRun(caller, run)).status).toBe("completed");
    const prompts = model.callsOf("changed-meanwhile").map((call) => systemPrompt(call));
    expect(prompts).toHaveLength(2);
    expect(new Set(prompts).size).toBe(1);
    expect(prompts[0]).toContain(`${prompt}\n\nIn German.`);
  });

  it("of a newer version that is accepted during a turn apply to the next", async () => {
    const other = await createPerson(server.url);
    const template = await createTemplate(other.withKey, { prompt });
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    await caller.patch(path, { templateId: template.id });
    model.script("accept-meanwhile", async function* ({ step }) {
      if (step > 0) return yield { text: "done" };
      const changed = { prompt: `${prompt} Later.` };
      await other.withKey.patch(`/api/agents/templates/${template.id}`, changed);
      expect((await caller.patch(path, { template_version: 2 })).status).toBe(200);
      yield { tool: "todo", input: { todos: [] } };
    });
    await (await conversation.send("[script:accept-meanwhile]")).ended;
    const prompts = model.callsOf("accept-meanwhile").map((call) => systemPrompt(call));
    expect(prompts).toHaveLength(2);
    expect(prompts.join()).not.toContain("Later.");
    await (await conversation.send("hello")).ended;
    expect(systemPrompt()).toContain(`${prompt} Later.`);
  });

  it("of a template have no effect once the account no longer sees it", async () => {
    const other = await createPerson(server.url);
    const template = await createTemplate(other.withKey, { prompt });
    const conversation = await openConversation(caller);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    expect((await caller.patch(path, { templateId: template.id })).status).toBe(200);
    await other.withKey.patch(`/api/agents/templates/${template.id}`, { is_private: true });
    await (await conversation.send("hello")).ended;
    expect(systemPrompt()).not.toContain(prompt);
  });
});
