/** The library against a running server, and through a proxy that cuts its connections. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FaultProxy, startFaultProxy } from "../support/fakes/fault-proxy.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { Conversation, openConversation } from "../support/harness/conversation.ts";
import type { PackedClient } from "../support/harness/packed-client.ts";
import { sql, stack } from "../support/harness/stack.ts";
import { assemble } from "../support/harness/turn-stream.ts";

/** @param packed the package, installed */
export function librarySuite(packed: () => PackedClient): void {
  let proxy: FaultProxy;
  let person: Person;
  beforeAll(async () => {
    [proxy, person] = await Promise.all([
      startFaultProxy(Number(new URL(stack.url).port)),
      createPerson(),
    ]);
  });
  afterAll(() => proxy?.close());

  const connect = (baseUrl: string = stack.url) =>
    packed().module.createClient({ baseUrl, apiKey: person.key });

  describe("the package", () => {
    it("has what it says, and nothing else", async () => {
      const files = await readdir(packed().home, { recursive: true, withFileTypes: true });
      const outside = files.filter((one) => one.isFile() && one.parentPath === packed().home);
      expect(outside.map(({ name }) => name).sort()).toEqual([
        "LICENSE",
        "README.md",
        "package.json",
      ]);
      const kinds = files.filter((one) => one.isFile() && one.parentPath !== packed().home);
      for (const { name } of kinds) expect(name).toMatch(/\.(?:js|d\.ts)$/);
    });

    it("needs of the library's runtime no more than the web has", async () => {
      const dist = join(packed().home, "dist");
      const files = (await readdir(dist)).filter((name) => name.endsWith(".js"));
      const sources = await Promise.all(files.map((name) => readFile(join(dist, name), "utf8")));
      const imported = sources.flatMap((source) =>
        [...source.matchAll(/from "([^".][^"]*)"/g)].map(([, name]) => name),
      );
      expect([...new Set(imported)].sort()).toEqual([
        "eventsource-parser",
        "openapi-fetch",
        "standardwebhooks",
      ]);
      expect(sources.join()).not.toMatch(/\b(?:process|Buffer|require)\b[.(]/);
    });
  });

  describe("streamTurn", () => {
    it("provisions the sandbox of a new session, and yields each chunk once", async () => {
      const client = connect();
      const { data } = await client.api.POST("/api/sessions", { body: {} });
      if (!data) throw new Error("no session");
      const address = { sessionId: data.session.id, chatId: data.chat.id };
      const chunks = [];
      for await (const event of client.streamTurn({ ...address, message: "count to 5" })) {
        if (event.type !== "chunk") throw new Error("the end was missed");
        expect(event.index).toBe(chunks.length);
        chunks.push(event.chunk);
      }
      expect(chunks.at(-1)?.type).toBe("finish");
      const stored = await new Conversation(
        person.withKey,
        address.sessionId,
        address.chatId,
      ).answer();
      expect((await assemble(chunks as never)).parts).toEqual(stored.parts);
    });

    it.each([false, true])("survives a cut after every chunk (inside one: %s)", async (inside) => {
      const { sessionId, chatId } = await openConversation(person.withKey);
      let isWorking = false;
      const client = packed().module.createClient({
        baseUrl: proxy.url,
        apiKey: person.key,
        async fetch(request) {
          const response = await fetch(request);
          // Stops the turn only once this connection exists, so it cannot miss the end.
          if (isWorking) await person.withKey.post(`/api/chat/${chatId}/stop`);
          return response;
        },
      });
      // No connection from before is used again.
      proxy.cutAll();
      proxy.cutAfterFrames({ frames: 1, inside });
      const before = proxy.connections;
      const chunks = [];
      const message = "run `sleep 100`";
      for await (const event of client.streamTurn({ sessionId, chatId, message })) {
        if (event.type !== "chunk") throw new Error("the end was missed");
        expect(event.index).toBe(chunks.length);
        chunks.push(event.chunk);
        if (event.chunk.type !== "tool-input-available") continue;
        proxy.cutAfterFrames(null);
        isWorking = true;
        // Nothing follows this chunk that the connection could be cut at.
        proxy.cutAll();
      }
      expect(proxy.connections - before).toBeGreaterThan(5);
      expect(chunks.at(-1)?.type).toBe("finish");
      const stored = await new Conversation(person.withKey, sessionId, chatId).answer();
      expect((await assemble(chunks as never)).parts).toEqual(stored.parts);
    });

    it("yields the last chunks of a turn that ended while there was no connection", async () => {
      let refused = 0;
      const client = packed().module.createClient({
        baseUrl: proxy.url,
        apiKey: person.key,
        onRetry: () => {
          if (++refused === 2) proxy.open();
        },
      });
      const conversation = await openConversation(person.withKey);
      const { sessionId, chatId } = conversation;
      const events = [];
      const message = "run `sleep 100`";
      for await (const event of client.streamTurn({ sessionId, chatId, message })) {
        events.push(event);
        if (event.type !== "chunk" || event.chunk.type !== "tool-input-available") continue;
        const rest = await conversation.resume();
        proxy.refuse();
        proxy.cutAll();
        await person.withKey.post(`/api/chat/${chatId}/stop`);
        await rest.ended;
      }
      expect(refused).toBeGreaterThanOrEqual(2);
      const chunks = events.flatMap((event) => (event.type === "chunk" ? [event.chunk] : []));
      expect(chunks.at(-1)?.type).toBe("finish");
      const stored = await conversation.answer();
      expect((await assemble(chunks as never)).parts).toEqual(stored.parts);
    });

    it("yields the stored message of a turn whose log was deleted meanwhile", async () => {
      const client = packed().module.createClient({
        baseUrl: proxy.url,
        apiKey: person.key,
        onRetry: () => proxy.open(),
      });
      const conversation = await openConversation(person.withKey);
      const { sessionId, chatId } = conversation;
      const events = [];
      const message = "run `sleep 100`";
      for await (const event of client.streamTurn({ sessionId, chatId, message })) {
        events.push(event);
        if (event.type !== "chunk" || event.chunk.type !== "tool-input-available") continue;
        const rest = await conversation.resume();
        proxy.refuse();
        proxy.cutAll();
        await person.withKey.post(`/api/chat/${chatId}/stop`);
        await rest.ended;
        await sql`delete from engine.chunks where stream in (
          select id from turns where chat_id = ${chatId})`;
        // The server keeps the chunks in memory until it has seen that their readers are gone.
        const read = async () => (await conversation.resume({ runId: rest.runId })).status;
        await expect.poll(read).toBe(404);
      }
      const last = events.at(-1);
      const stored = await conversation.answer();
      expect(last?.type === "message" && last.message.id).toBe(stored.id);
    });

    it("stops reading at a signal, and resumeTurn takes the turn up", async () => {
      const client = connect();
      const { sessionId, chatId } = await openConversation(person.withKey);
      const leave = new AbortController();
      let next = 0;
      const reading = (async () => {
        const message = "run `sleep 100`";
        const { signal } = leave;
        for await (const event of client.streamTurn({ sessionId, chatId, message, signal })) {
          if (event.type === "chunk" && event.index === 3) leave.abort(new Error("left"));
          next++;
        }
      })();
      await expect(reading).rejects.toThrow("left");
      const indexes = [];
      for await (const event of client.resumeTurn({ sessionId, chatId, startIndex: next })) {
        if (event.type !== "chunk") throw new Error("the end was missed");
        indexes.push(event.index);
        if (event.chunk.type === "tool-input-available") {
          await person.withKey.post(`/api/chat/${chatId}/stop`);
        }
      }
      expect(indexes).toEqual(indexes.map((_, place) => next + place));
      expect(await client.resumeTurn({ sessionId, chatId }).next()).toEqual({ done: true });
    });

    it("throws what the service refuses", async () => {
      const { sessionId } = await openConversation(person.withKey);
      const turn = connect().streamTurn({
        sessionId,
        chatId: crypto.randomUUID(),
        message: "hello",
      });
      await expect(turn.next()).rejects.toMatchObject({
        name: "ApiError",
        message: "Chat not found",
        status: 404,
        code: "not_found",
        requestId: expect.any(String),
      });
    });

    it("gives up when nobody answers for the time it was given", async () => {
      proxy.refuse();
      proxy.cutAll();
      try {
        const client = packed().module.createClient({ baseUrl: proxy.url, retryForMs: 0 });
        await expect(client.waitForRun("any")).rejects.toThrow(TypeError);
      } finally {
        proxy.open();
      }
    });
  });

  describe("files", () => {
    it("go to the sandbox and come back as they were", async () => {
      const client = connect();
      const { sessionId } = await openConversation(person.withKey);
      const bytes = crypto.getRandomValues(new Uint8Array(60_000));
      const path = "stems/kick & snare.wav";
      const content = new Blob([bytes]).stream();
      const written = await client.uploadFile({ sessionId, path, content });
      expect(written.size).toBe(bytes.length);
      const response = await client.downloadFile({ sessionId, path });
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
      await expect(client.downloadFile({ sessionId, path: "none" })).rejects.toThrow(
        "File not found",
      );
    });
  });

  describe("credentials", () => {
    it("are a key, a bearer or what returns one, and never both", async () => {
      const { createClient } = packed().module;
      const baseUrl = stack.url;
      for (const bearer of [person.bearer, async () => person.bearer]) {
        const { response } = await createClient({ baseUrl, bearer }).api.GET("/api/models");
        expect(response.status).toBe(200);
      }
      expect(() => createClient({ baseUrl, apiKey: "a", bearer: "b" })).toThrow(TypeError);
    });
  });

  describe("verifyWebhook", () => {
    const secret = `whsec_${Buffer.from("a secret that is only in this test").toString("base64")}`;
    const text = JSON.stringify({
      type: "run.completed",
      timestamp: "2026-11-20T00:00:00Z",
      data: {},
    });
    const delivery = (body: string, signedAt = new Date()) => {
      const headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(signedAt.getTime() / 1_000)),
        "webhook-signature": new Webhook(secret).sign("msg_1", signedAt, text),
      };
      return new Request("https://example.com/hook", { method: "POST", body, headers });
    };

    it("resolves to the event of a genuine delivery", async () => {
      expect(await packed().module.verifyWebhook(delivery(text), secret)).toEqual(JSON.parse(text));
    });

    it.each([
      ["another body", () => delivery(`${text} `)],
      ["an old delivery", () => delivery(text, new Date(Date.now() - 600_000))],
      ["no signature", () => new Request("https://example.com", { method: "POST", body: text })],
    ])("refuses %s", async (_, make) => {
      const { verifyWebhook, WebhookVerificationError } = packed().module;
      await expect(verifyWebhook(make(), secret)).rejects.toThrow(WebhookVerificationError);
    });
  });
}
