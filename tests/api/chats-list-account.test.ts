import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { foundChat } from "../../lib/sessions/session.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import { type Client, createAccount, createPerson, link } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const page = z.strictObject({
  status: z.literal("success"),
  chats: z.array(z.strictObject(foundChat.shape)),
  next_cursor: z.string().nullable(),
});

async function list(caller: Client, query: Record<string, string> = {}) {
  const answer = await caller.get(`/api/chats?${new URLSearchParams(query)}`);
  if (answer.status !== 200) throw new Error(`GET /api/chats: ${answer.text}`);
  return page.parse(answer.body).chats;
}
const nextOf = ({ headers }: { readonly headers: Headers }) =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
const titles = async (caller: Client, query: Record<string, string>) =>
  (await list(caller, query)).map(({ title }) => title);

async function createChat(caller: Client, title: string, artistId?: string) {
  const { session, chat } = await createSession(caller, { ...(artistId && { artistId }) });
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  await caller.patch(path, { title });
  return { path, id: chat.id };
}
const say = (chatId: string, ...texts: string[]) =>
  Promise.all(
    texts.map(async (text) => {
      const id = randomUUID();
      await sql`insert into messages (chat_id, id, role, parts) values
        (${chatId}, ${id}, 'assistant', ${sql.json([{ type: "text", text }])})`;
      return id;
    }),
  );

describe("GET /api/chats 200", () => {
  test("pages, newest first, have the chats of all sessions and no foreign ones", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    await createSession(other.withKey);
    for (const title of ["a", "b", "c", "d"]) await createChat(person.withKey, title);
    const seen: string[] = [];
    let next: string | undefined = "/api/chats?limit=3&archived=false";
    while (next) {
      const answer = await person.withBearer.get(next);
      seen.push(...page.parse(answer.body).chats.map(({ title }) => title));
      next = nextOf(answer);
      if (next) expect(next).toContain("archived=false");
    }
    expect(seen).toEqual(["d", "c", "b", "a"]);
    for (const chat of await list(person.withKey)) expect(chat).not.toHaveProperty("snippet");
  });

  test("are filtered by what is pinned and archived, as the chat was changed", async () => {
    const { withKey } = await createPerson();
    const first = await createChat(withKey, "first");
    const second = await createChat(withKey, "second");
    await createChat(withKey, "third");
    await withKey.patch(first.path, { pinned: true, title: "first" });
    await withKey.patch(second.path, { pinned: true, archived: true });
    expect(await titles(withKey, { pinned: "true" })).toEqual(["second", "first"]);
    expect(await titles(withKey, { pinned: "true", archived: "false" })).toEqual(["first"]);
    expect(await titles(withKey, { archived: "true" })).toEqual(["second"]);
    const seen: unknown[] = [];
    let next: string | undefined = "/api/chats?pinned_first=true&limit=1";
    while (next) {
      const answer = await withKey.get(next);
      const { chats } = page.parse(answer.body);
      seen.push(...chats.map(({ title, pinned, archived }) => [title, pinned, archived]));
      next = nextOf(answer);
    }
    expect(seen).toEqual([
      ["first", true, false],
      ["third", false, false],
      ["second", true, true],
    ]);
    await withKey.patch(second.path, { pinned: false, archived: false });
    expect(await titles(withKey, { archived: "true" })).toEqual([]);
    expect(await titles(withKey, { pinned: "false" })).toEqual(["third", "second"]);
  });

  test("are filtered by the artist of their session", async () => {
    const { id, withKey } = await createPerson();
    const [organization, artist] = await Promise.all([
      createAccount({ kind: "organization" }),
      createAccount({ kind: "artist" }),
    ]);
    await Promise.all([link(organization.id, id), link(organization.id, artist.id)]);
    await createChat(withKey, "of the artist", artist.id);
    await createChat(withKey, "of nobody");
    expect(await titles(withKey, { artist_id: artist.id })).toEqual(["of the artist"]);
    expect(await titles(withKey, { artist_id: randomUUID() })).toEqual([]);
  });

  test("are found by title and by the words of one message, with the passage", async () => {
    const [{ withKey }, other] = await Promise.all([createPerson(), createPerson()]);
    const words = Array.from({ length: 200 }, (_, index) => `filler${index}`).join(" ");
    const statement = await createChat(withKey, "Quarter three");
    await say(statement.id, `${words} The Royalty statement of Māra "Harbor" & Sons ${words}`);
    const split = await createChat(withKey, "Other");
    await say(split.id, "royalty", "statement");
    await createChat(withKey, "Royalty statements 100%");
    await say((await createChat(other.withKey, "Foreign")).id, "royalty statement");

    const found = await list(withKey, { q: "royalty STATEM" });
    expect(found.map(({ title }) => title)).toEqual(["Royalty statements 100%", "Quarter three"]);
    expect(found[0]?.snippet).toBe("Royalty statements 100%");
    expect(found[1]?.snippet).toContain("Royalty statement of Māra");
    expect(found[1]?.snippet?.length).toBeLessThan(400);
    expect(await titles(withKey, { q: "māra" })).toEqual(["Quarter three"]);
    expect(await titles(withKey, { q: "100%" })).toEqual(["Royalty statements 100%"]);
    expect(await titles(withKey, { q: "nowhere" })).toEqual([]);

    // Typing errors are forgiven where nothing has the words.
    const [similar] = await list(withKey, { q: "roylty statment of habror", pinned_first: "true" });
    expect(similar).toMatchObject({ id: statement.id, matched: "royalty statement of harbor" });
    expect(await titles(other.withKey, { q: "harbro" })).toEqual([]);

    const [id] = await say(
      split.id,
      "## Tour\n\n| City | **Fee** |\n| --- | --- |\n| [Oslo](https://example.com/oslo) | `900` <b>net</b> |",
    );
    expect((await list(withKey, { q: "oslo" }))[0]).toMatchObject({
      ...{ id: split.id, message_id: id, matched: "oslo" },
      snippet: "City Fee Oslo 900 net",
    });
    expect(found[0]).not.toHaveProperty("message_id");
  });

  test.each(["'", "a:*", "!", "& | !", "\\", "<->", "%", "x".repeat(250), "\u{1f3b5}", "':*"])(
    "a search for %j is a search and nothing else",
    async (q) => {
      const { withKey } = await createPerson();
      await createChat(withKey, "Something");
      expect(await list(withKey, { q })).toEqual([]);
    },
  );
});
