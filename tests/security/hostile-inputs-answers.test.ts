/**
 * Answers of models and vendors that never end, or are of a shape that would keep the server busy.
 * This file is long because one server gives all of them.
 */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fetchJson } from "@platform/kit/outbound/fetch-json";
import { generateText, readUIMessageStream, streamText, type UIMessageChunk } from "ai";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createModels } from "@/lib/app.ts";
import { createWebApiCatalog } from "@/lib/catalog/adapters/web-api/provider.ts";
import { parseConfig } from "@/lib/platform/config.ts";
import { MAX_TOOL_CALLS } from "@/packages/agent/src/models/bound-answer.ts";
import { assembleParts } from "../../lib/running-turn/assemble-parts.ts";
import { expectNoStall } from "../support/harness/stall.ts";

const MIB = 1024 * 1024;
const fill = (text: string, length: number): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

let origin: string;
let answer: (response: ServerResponse) => void;
/** Resolves when the service has noticed that the client is gone. */
let left: Promise<void>;
const server = createServer((request, response) => {
  request.resume();
  left = new Promise((resolve) => response.on("close", resolve));
  answer(response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Writes until the client disconnects. */
function writeForever(response: ServerResponse, next: () => string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(next()));
    if (!response.destroyed) response.once("drain", write);
  };
  write();
}

describe("a model", () => {
  const settings = () =>
    parseConfig({
      SUPABASE_URL: "http://localhost",
      SUPABASE_SECRET_KEY: "x",
      DATABASE_URL: "postgresql://localhost",
      API_KEY_SECRET: "x".repeat(32),
      OPENAI_BASE_URL: `${origin}/v1`,
    });
  const event = (delta: object): string =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta }] })}\n\n`;

  /** Reads an answer as a turn does: to its end, or to where it breaks off. */
  async function ask(): Promise<{ readonly failed: boolean }> {
    let failed = false;
    const fail = (): void => {
      failed = true;
    };
    const result = streamText({
      model: (await createModels(settings())).resolve("hostile"),
      prompt: "Hello",
      maxRetries: 0,
      onError: fail,
    });
    await result.consumeStream({ onError: fail });
    return { failed };
  }

  test.each(["ends", "breaks off", "is not read to its end"])(
    "whose answer %s leaves no timer behind",
    async (how) => {
      answer = (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(event({ content: "Hello" }));
        if (how === "ends") response.end("data: [DONE]\n\n");
        else if (how === "breaks off") setImmediate(() => response.destroy());
      };
      const started = vi.spyOn(globalThis, "setTimeout");
      const cleared = vi.spyOn(globalThis, "clearTimeout");
      const model = (await createModels(settings())).resolve("hostile");
      const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];
      const { stream } = await model.doStream({ prompt });
      const reader = stream.getReader();
      const read = async () => {
        for (;;) if ((await reader.read()).done) return;
      };
      if (how === "is not read to its end") await reader.cancel();
      else await read().catch(() => {});
      const deadline = started.mock.calls.findIndex(([, ms]) => ms === 30 * 60_000);
      const timer = started.mock.results[deadline]?.value;
      expect(timer).toBeDefined();
      await expect.poll(() => cleared.mock.calls.flat()).toContain(timer);
      vi.restoreAllMocks();
    },
  );

  let calls = 0;
  test.each<[string, () => string]>([
    ["a text", () => event({ content: fill("word ", 10_000) })],
    ["reasoning", () => event({ reasoning_content: fill("hm ", 10_000) })],
    [
      "tool calls",
      () =>
        event({
          tool_calls: [
            { index: calls++, id: `c${calls}`, function: { name: "bash", arguments: "{}" } },
          ],
        }),
    ],
    [
      "one tool call's input",
      () =>
        event({
          tool_calls: [
            { index: 0, id: "c", function: { name: "bash", arguments: fill("[", 10_000) } },
          ],
        }),
    ],
    ["one event", () => `data: ${fill("x", 60_000)}`],
    ["comments", () => `: ${fill("x", 60_000)}\n`],
  ])("that never ends %s is cut off", async (_, next) => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      writeForever(response, next);
    };
    await expectNoStall(async () => {
      expect(await ask()).toEqual({ failed: true });
    });
    await left;
  });

  test("that calls a thousand tools in one piece fails", async () => {
    const tool_calls = Array.from({ length: MAX_TOOL_CALLS + 1 }, (_, place) => ({
      id: `c${place}`,
      type: "function",
      function: { name: "bash", arguments: "{}" },
    }));
    answer = (response) => {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ choices: [{ index: 0, finish_reason: "stop", message: { tool_calls } }] }),
      );
    };
    const model = (await createModels(settings())).resolve("hostile");
    await expect(generateText({ model, prompt: "Hello", maxRetries: 0 })).rejects.toThrow(
      /tool calls/,
    );
  });
});

describe("a vendor", () => {
  const ask = () =>
    fetchJson(new URL(origin), {
      vendor: "catalog",
      headers: {},
      deadline: AbortSignal.timeout(60_000),
    });

  test("whose answer never ends is left", async () => {
    answer = (response) => writeForever(response, () => fill(" ", 60_000));
    await expectNoStall(async () => expect(await ask()).toMatchObject({ kind: "broken" }));
    await left;
  });

  test.each([
    ["arrays in arrays", fill("[", 4 * MIB)],
    ["a million values", `[${fill("{},", 6 * MIB)}1]`],
  ])("that answers %s is broken", async (_, body) => {
    answer = (response) => response.end(body);
    await expectNoStall(async () => expect(await ask()).toMatchObject({ kind: "broken" }));
  });

  test("of a catalog names thousands of markets", async () => {
    const album = {
      id: "a",
      name: "Album",
      url: "https://albums.test/a",
      album_type: "album",
      total_tracks: 1,
      release_date: "2020",
      release_date_precision: "year",
      available_markets: Array.from({ length: 2_000 }, () => "DE"),
      images: [{ url: "https://i.spotify.test/1" }, { url: "https://images.test/1" }],
      artists: [],
    };
    const items = Array.from({ length: 50 }, () => album);
    answer = (response) =>
      response.end(
        JSON.stringify({ access_token: "t", expires_in: 60, albums: { total: 50, items } }),
      );
    const settings = { clientId: "i", clientSecret: "s", baseUrl: origin, tokenUrl: origin };
    const query = { kinds: ["album"], market: null, limit: 50, offset: 0 } as const;
    let asked = 0;
    await expectNoStall(async () => {
      const catalog = createWebApiCatalog({ ...settings, timeoutMs: 60_000 });
      const found = await catalog.search({ ...query, q: `q${asked++}` });
      expect(Object(found).albums.items[0].images).toEqual([
        { url: "https://images.test/1", height: null, width: null },
      ]);
    });
  });
});

describe("assembling a message", () => {
  const range = (count: number): number[] => [...Array(count).keys()];
  const opened: UIMessageChunk[] = [{ type: "start", messageId: "m" }, { type: "start-step" }];
  const call = (id: number): UIMessageChunk[] => [
    { type: "tool-input-start", toolCallId: `c${id}`, toolName: "bash" },
    { type: "tool-input-available", toolCallId: `c${id}`, toolName: "bash", input: {} },
  ];
  const output = (id: number, length: number): UIMessageChunk => ({
    type: "tool-output-available",
    toolCallId: `c${id}`,
    output: { stdout: fill("x", length) },
  });
  const text = (id: number): UIMessageChunk[] => [
    { type: "text-start", id: `${id}` },
    { type: "text-delta", id: `${id}`, delta: `text ${id}` },
    { type: "text-end", id: `${id}` },
  ];

  test.each<[string, UIMessageChunk[]]>([
    [
      "many large results",
      [...range(128).flatMap(call), ...range(128).map((n) => output(n, 50_000))],
    ],
    ["a thousand texts", range(1_000).flatMap(text)],
    [
      "two texts in turns",
      [
        { type: "text-start", id: "0" },
        { type: "text-start", id: "1" },
        ...range(100_000).map((n) => ({
          type: "text-delta" as const,
          id: `${n % 2}`,
          delta: "ab",
        })),
      ],
    ],
  ])("of %s", async (_, chunks) => {
    await expectNoStall(() => assembleParts([...opened, ...chunks]));
  });

  /** Chunks of several parts of one step, each part's in order, the parts' in any. */
  const part = fc.constantFrom("text", "reasoning", "tool");
  const interleaved = fc
    .array(fc.record({ part, order: fc.array(fc.nat(1_000), { minLength: 6, maxLength: 6 }) }), {
      maxLength: 6,
    })
    .map((parts) =>
      parts
        .flatMap(({ part, order }, id) => {
          const places = [...order].sort((one, other) => one - other);
          return chunksOf(part, id).map((chunk, at) => ({ chunk, place: places[at] ?? 0 }));
        })
        .sort((one, other) => one.place - other.place)
        .map(({ chunk }) => chunk),
    );

  function chunksOf(kind: "text" | "reasoning" | "tool", id: number): UIMessageChunk[] {
    if (kind === "tool") {
      const toolCallId = `c${id}`;
      return [
        { type: "tool-input-start", toolCallId, toolName: "bash" },
        { type: "tool-input-delta", toolCallId, inputTextDelta: '{"command":' },
        { type: "tool-input-delta", toolCallId, inputTextDelta: '"ls"}' },
        { type: "tool-input-available", toolCallId, toolName: "bash", input: { command: "ls" } },
        { type: "tool-output-available", toolCallId, output: { exitCode: 0 } },
      ];
    }
    return [
      { type: `${kind}-start`, id: `${id}` },
      { type: `${kind}-delta`, id: `${id}`, delta: "one " },
      { type: `${kind}-delta`, id: `${id}`, delta: "two", providerMetadata: { p: { n: id } } },
      { type: `${kind}-delta`, id: `${id}`, delta: "!" },
      { type: `${kind}-end`, id: `${id}` },
    ];
  }

  test("gives what a client assembles from the whole stream", async () => {
    const steps = fc.array(fc.tuple(interleaved, fc.boolean()), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const chunks = given.flatMap(([step, isReset]): UIMessageChunk[] => [
          { type: "start-step" },
          ...step,
          ...(isReset ? [{ type: "reset-step" } as const, ...text(0)] : []),
          { type: "finish-step" },
        ]);
        const stream = new ReadableStream<UIMessageChunk>({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(chunk);
            controller.close();
          },
        });
        let whole: unknown[] = [];
        for await (const message of readUIMessageStream({ stream })) whole = message.parts;
        const parts = await assembleParts(chunks);
        // The reader reports no change for a step's start, so the start of a last, empty step is missing.
        expect(parts.slice(0, whole.length)).toEqual(whole);
        expect(parts.slice(whole.length).every(({ type }) => type === "step-start")).toBe(true);
      }),
    );
  });
});
