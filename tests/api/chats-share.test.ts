import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chat, session } from "../../lib/sessions/session.ts";
import { type SharedMessage, sharedMessage } from "../../lib/sessions/shares/contract.ts";
import { hostileTexts } from "../support/fixtures/hostile-texts.ts";
import { createPersonWithSession, writeSandboxFile } from "../support/fixtures/sessions.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Client, client, createPerson } from "../support/harness/clients.ts";
import { sql, stack } from "../support/harness/stack.ts";

const share = z.strictObject({
  id: z.uuid(),
  chat_id: z.uuid(),
  url: z.url(),
  title: z.string(),
  message_count: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  files: z.array(z.strictObject({ path: z.string(), name: z.string(), size: z.int() })),
});
const shareAnswer = z.strictObject({ status: z.literal("success"), share: share.nullable() });
const publicAnswer = z.strictObject({
  status: z.literal("success"),
  share: z.strictObject({
    title: z.string(),
    message_count: z.int(),
    updated_at: z.iso.datetime(),
    files: z.array(z.strictObject({ name: z.string(), size: z.int() })),
  }),
  messages: z.array(sharedMessage),
  next_cursor: z.string().nullable(),
});

const missing = (what: string) => [404, { status: "error", error: `${what} not found` }];
const addressOf = (url: string) => `/api/shares/${new URL(url).pathname.split("/").at(-1)}`;
const readByAnyone = (url: string, query = "") => client().get(addressOf(url) + query);

async function openShared(title = "Release plan") {
  const { person, session, chat } = await createPersonWithSession();
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  await person.withKey.patch(path, { title });
  await say(chat.id, "user", [{ type: "text", text: "Plan the release" }]);
  return { ...person, chat, session, path: `${path}/share`, chatPath: path };
}

async function say(chatId: string, role: string, parts: readonly object[]): Promise<void> {
  await sql`insert into messages (chat_id, id, role, parts)
    values (${chatId}, ${randomUUID()}, ${role}, ${sql.json(parts as never)})`;
}

async function put(caller: Client, path: string, body?: object) {
  const answer = await caller.request("PUT", path, { body });
  expect(answer.status, answer.text).toBe(200);
  return share.parse(shareAnswer.parse(answer.body).share);
}

describe("PUT /api/sessions/{sessionId}/chats/{chatId}/share 200", () => {
  test("anyone with the link reads texts and names of tools, and nothing else", async () => {
    const { withKey, chat, path } = await openShared();
    const [hostile = ""] = hostileTexts();
    await say(chat.id, "assistant", [
      { type: "step-start" },
      { type: "reasoning", text: "hidden thought" },
      {
        type: "tool-bash",
        toolCallId: "call_1",
        state: "output-available",
        input: { command: "cat hidden.txt" },
        output: { stdout: "hidden output" },
        providerMetadata: { hidden: true },
      },
      { type: "file", mediaType: "text/csv", filename: "hidden.csv", url: "sandbox:/hidden" },
      { type: "text", text: hostile, hidden: "yes" },
      { type: "text", text: "  " },
    ]);
    await say(chat.id, "assistant", [{ type: "reasoning", text: "hidden" }]);
    expect((await withKey.get(path)).body).toEqual({ status: "success", share: null });

    const made = await put(withKey, path);
    expect(made).toMatchObject({ chat_id: chat.id, title: "Release plan", message_count: 2 });
    expect(made.url).toMatch(/\/share\/[\w-]{43}$/);
    expect(shareAnswer.parse((await withKey.get(path)).body).share).toEqual(made);

    const read = await readByAnyone(made.url);
    expect(read.status, read.text).toBe(200);
    expect(read.headers.get("cache-control")).toBe("no-store");
    expect(read.headers.get("x-robots-tag")).toBe("noindex, nofollow");
    expect(publicAnswer.parse(read.body)).toEqual({
      status: "success",
      share: { title: "Release plan", message_count: 2, updated_at: made.updated_at, files: [] },
      messages: [
        { role: "user", parts: [{ type: "text", text: "Plan the release" }] },
        {
          role: "assistant",
          parts: [
            { type: "tool", name: "bash" },
            { type: "text", text: hostile },
          ],
        },
      ],
      next_cursor: null,
    });
    expect(read.text).not.toContain("hidden");
    for (const id of [made.id, chat.id]) expect(read.text).not.toContain(id);
    const [stored] = await sql`select to_jsonb(s)::text as row from chat_shares s
      where id = ${made.id}`;
    expect(stored?.row).not.toContain(made.url.split("/").at(-1));
  });

  test("later messages and names are shared by the next call only, under the same link", async () => {
    const { withKey, chat, path, chatPath } = await openShared();
    const first = await put(withKey, path);
    await say(chat.id, "assistant", [{ type: "text", text: "The secret date" }]);
    await withKey.patch(chatPath, { title: "Renamed" });
    expect((await readByAnyone(first.url)).text).not.toMatch(/secret date|Renamed/);

    const [second, third] = await Promise.all([put(withKey, path), put(withKey, path)]);
    for (const renewed of [second, third]) {
      expect(renewed).toMatchObject({ url: first.url, title: "Renamed", message_count: 2 });
    }
    expect((await readByAnyone(first.url)).text).toContain("The secret date");
  });

  test("a long chat is read in pages", async () => {
    const { withKey, chat, path } = await openShared();
    await sql`insert into messages (chat_id, id, role, parts, created_at)
      select ${chat.id}, n::text, 'user', jsonb_build_array(
        jsonb_build_object('type', 'text', 'text', 'message ' || n)), now() + n * interval '1 second'
      from generate_series(1, 249) n`;
    const { url } = await put(withKey, path);
    const texts: string[] = [];
    let query = "";
    for (let cursor: string | null = ""; cursor !== null; query = `?cursor=${cursor}`) {
      const page = publicAnswer.parse((await readByAnyone(url, query)).body);
      texts.push(...page.messages.flatMap(({ parts }) => parts.map((part) => Object(part).text)));
      cursor = page.next_cursor;
    }
    expect(texts).toHaveLength(250);
    expect(texts.slice(-2)).toEqual(["message 248", "message 249"]);
    expectError(await readByAnyone(url, "?cursor=x"), 400, "error", "cursor is invalid");
  });
});

describe("files of a share", () => {
  test("anyone saves copies of the chosen ones, until the share has them no longer", async () => {
    const { withKey, session, path } = await openShared();
    const early = await withKey.request("PUT", path, { body: { files: ["a.txt"] } });
    expectError(early, 400, "error", "Sandbox not initialized");
    await withKey.post("/api/sandbox", { sessionId: session.id });
    const large = randomBytes(3 * 1024 * 1024 + 1);
    const write = (name: string, content: string | Uint8Array) =>
      writeSandboxFile(session.id, name, content);
    await write("reports/q3 (ü).xlsx", large);
    await write("page.html", "<script>alert(1)</script>");
    await write("private.txt", "not shared");
    const files = ["reports/q3 (ü).xlsx", "/home/agent/page.html"];
    const made = await put(withKey, path, { files });
    expect(made.files).toEqual([
      { path: files[0], name: "q3 (ü).xlsx", size: large.length },
      { path: files[1], name: "page.html", size: 25 },
    ]);
    await write("page.html", "changed");
    const shared = publicAnswer.parse((await readByAnyone(made.url)).body).share.files;
    expect(shared).toEqual(made.files.map(({ name, size }) => ({ name, size })));

    const read = (index: number | string) =>
      fetch(new URL(`${addressOf(made.url)}/files/${index}`, stack.url));
    const sheet = await read(0);
    expect(Buffer.compare(Buffer.from(await sheet.arrayBuffer()), large)).toBe(0);
    const page = await read(1);
    expect(await page.text()).toBe("<script>alert(1)</script>");
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment; filename*=UTF-8''page.html",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "x-robots-tag": "noindex, nofollow",
    });
    for (const index of [2, 2_147_483_646]) expect((await read(index)).status).toBe(404);

    // A request that fails changes nothing.
    for (const [body, status, error] of [
      [{ files: ["missing.txt"] }, 400, "files.0 is not a file in the session's sandbox"],
      [{ files: ["page.html", "reports"] }, 400, "files.1 is not a file in the session's sandbox"],
      [{ files: ["../../etc/passwd"] }, 400, "files.0 is not a file in the session's sandbox"],
      [{ files: ["page.html", "page.html"] }, 400, "files must name each file once"],
    ] as const) {
      expectError(await withKey.request("PUT", path, { body }), status, "error", error);
    }
    await write("big.bin", Buffer.alloc(7 * 1024 * 1024));
    const tooLarge = await withKey.request("PUT", path, {
      body: { files: ["big.bin", files[0]] },
    });
    expectError(tooLarge, 413, "error", "The files have more than 10 MiB in total");
    await sql`insert into shared_files (share_id, position, account_id, content)
      select ${made.id}, 50, account_id, convert_to(repeat('x', 99000000), 'UTF8') from chat_shares
      where id = ${made.id}`;
    const { body } = await withKey.post(`/api/sessions/${session.id}/chats`, {});
    const other = `/api/sessions/${session.id}/chats/${Object(body).chat.id}/share`;
    const full = await withKey.request("PUT", other, { body: { files: ["big.bin"] } });
    expect(full.status).toBe(403);
    expect(full.text).toContain("The files of all shares take at most 100 MiB");
    expect((await withKey.get(other)).body).toEqual({ status: "success", share: null });
    expect((await read(0)).status).toBe(200);

    // A share has the files that its last request named, and an ended link has none.
    expect((await put(withKey, path)).files).toEqual([]);
    expect((await read(0)).status).toBe(404);
    await put(withKey, path, { files: ["page.html"] });
    expect(await (await read(0)).text()).toBe("changed");
    await withKey.delete(path);
    expect((await read(0)).status).toBe(404);
  });
});

describe("PUT /api/sessions/{sessionId}/chats/{chatId}/share 413", () => {
  test("a chat with too many characters is not shared in part", async () => {
    const { withKey, chat, path } = await openShared();
    for (let n = 0; n < 9; n++) {
      await sql`insert into messages (chat_id, id, role, parts) values (${chat.id}, ${`m${n}`},
        'user', jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('x', 1000000))))`;
    }
    const answer = await withKey.request("PUT", path);
    expectError(answer, 413, "error", "The chat is too long to be shared");
    expect((await withKey.get(path)).body).toEqual({ status: "success", share: null });
  });
});

describe("DELETE /api/sessions/{sessionId}/chats/{chatId}/share 200", () => {
  test("the link is revoked at once and permanently", async () => {
    const { withKey, path } = await openShared();
    const { url } = await put(withKey, path);
    const done = await withKey.delete(path);
    expect([done.status, done.body]).toEqual([200, { status: "success" }]);
    const gone = await readByAnyone(url);
    expect([gone.status, gone.body]).toEqual(missing("Share"));
    const again = await withKey.delete(path);
    expect([again.status, again.body]).toEqual(missing("Share"));
    const next = await put(withKey, path);
    expect(next.url).not.toBe(url);
    expect((await readByAnyone(url)).status).toBe(404);
  });

  test("a deleted chat is shared no longer", async () => {
    const { withKey, path, chatPath } = await openShared();
    const { url } = await put(withKey, path);
    await withKey.delete(chatPath);
    expect((await readByAnyone(url)).status).toBe(404);
  });
});

describe("GET /api/shares/{token} 404", () => {
  test("a token that differs in any character is not a link, nor is anything else", async () => {
    const { withKey, path } = await openShared();
    const { url, id } = await put(withKey, path);
    const token = url.split("/").at(-1) ?? "";
    const changed = [0, 20, 21, 22, 41].map((at) => {
      const other = token[at] === "A" ? "B" : "A";
      return token.slice(0, at) + other + token.slice(at + 1);
    });
    for (const wrong of [...changed, id, "x", token.slice(0, 42), `${token}A`]) {
      const answer = await client().get(`/api/shares/${wrong}`);
      expect([answer.status, answer.body], wrong).toEqual(missing("Share"));
    }
  });
});

describe("POST /api/shares/{token}/chats", () => {
  const body = z.strictObject({ session, chat });

  test("copies the texts into a chat of the reader, as untrusted content, while the share lasts", async () => {
    const { withKey, chat: original, path } = await openShared();
    await say(original.id, "assistant", [{ type: "tool-bash" }]);
    await say(original.id, "assistant", [
      { type: "tool-bash" },
      { type: "text", text: "Twelve weeks" },
    ]);
    const { url } = await put(withKey, path);
    const reader = await createPerson();
    const continued = () => reader.withKey.request("POST", `${addressOf(url)}/chats`);
    const made = body.parse((await continued()).body);
    expect(made.chat).toMatchObject({ title: "Release plan", sessionId: made.session.id });
    const address = `/api/sessions/${made.session.id}/chats/${made.chat.id}`;
    const { messages } = Object((await reader.withKey.get(address)).body);
    expect(messages.map(({ role, parts }: SharedMessage) => ({ role, parts }))).toEqual([
      { role: "user", parts: [{ type: "text", text: "Plan the release" }] },
      { role: "assistant", parts: [{ type: "text", text: "Twelve weeks" }] },
    ]);
    const [stored] = await sql`select untrusted from sessions where id = ${made.session.id}`;
    expect(stored?.untrusted).toEqual([{ kind: "share", name: "Release plan" }]);
    expect((await withKey.get(address)).status).toBe(404);

    await withKey.delete(path);
    const late = await continued();
    expect([late.status, late.body]).toEqual(missing("Share"));
    expect((await reader.withKey.get(address)).status).toBe(200);
  });
});
