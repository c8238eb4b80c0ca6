/** Names and titles that people read: nothing in them is invisible or reorders the text around them. */
import { expect, test } from "vitest";
import { makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import { sentenceOf } from "../support/fixtures/shapes.ts";
import { validTask } from "../support/fixtures/tasks.ts";
import { validTemplate } from "../support/fixtures/templates.ts";
import { createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const REFUSED: Readonly<Record<string, string>> = {
  "an override": "inv\u202efdp.html",
  "an isolate": "a\u2067b\u2069",
  "a mark of direction": "a\u200fb",
  "a space without width": "a\u200bb",
  "a joiner of words": "a\u2060b",
  "a joiner between Latin letters": "pay\u200dpal",
  "a joiner at the end": "\u0645\u06cc\u200c",
  "a soft hyphen": "a\u00adb",
  "a byte order mark": "a\ufeffb",
  "blank letters": "a\u3164b\u115f\u1160\uffa0",
  "a blank pattern": "a\u2800b",
  "tag characters": "abc\u{e0041}\u{e0042}",
  "a flag of tags that does not exist": "\u{1f3f4}\u{e0061}\u{e0062}\u{e0063}\u{e0064}\u{e007f}",
  "a second variant": "a\ufe0f\ufe0f",
  "a separator of lines": "a\u2028b",
};
const ACCEPTED: Readonly<Record<string, string>> = {
  Persian: "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
  Hindi: "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937",
  Hebrew: "\u05e9\u05dc\u05d5\u05dd 1",
  "a family": "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "a person at work": "\u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u2764\ufe0f\u200d\u{1f525}",
  "the flag of Wales": "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
  "a variant of a letter": "\u845b\u{e0100}",
};

async function createFields() {
  const { withKey, withBearer, id } = await createPerson();
  const organization = await makeOrganization(withKey);
  const artist = await makeArtist(withKey);
  const { session, chat } = await createSession(withKey);
  const chats = `/api/sessions/${session.id}/chats`;
  const send = (method: string, path: string, body: object) =>
    withKey.request(method, path, { body });
  const task = (await send("POST", "/api/tasks", validTask)).body as { task: { id: string } };
  const template = (await send("POST", "/api/agents/templates", validTemplate)).body as {
    template: { id: string };
  };
  const fields: Readonly<Record<string, (text: string) => ReturnType<typeof send>>> = {
    account: (name) => send("PATCH", "/api/accounts/me", { name }),
    "new organization": (name) => send("POST", "/api/organizations", { name }),
    organization: (name) => send("PATCH", `/api/organizations/${organization}`, { name }),
    "new artist": (name) => send("POST", "/api/artists", { name }),
    artist: (name) => send("PATCH", `/api/artists/${artist}`, { name }),
    label: (label) => send("PATCH", `/api/artists/${artist}`, { label }),
    "new session": (title) => send("POST", "/api/sessions", { title }),
    session: (title) => send("PATCH", `/api/sessions/${session.id}`, { title }),
    "new chat": (title) => send("POST", chats, { title }),
    chat: (title) => send("PATCH", `${chats}/${chat.id}`, { title }),
    "new task": (title) => send("POST", "/api/tasks", { ...validTask, title }),
    task: (title) => send("PATCH", `/api/tasks/${task.task.id}`, { title }),
    "new template": (title) => send("POST", "/api/agents/templates", { ...validTemplate, title }),
    template: (title) => send("PATCH", `/api/agents/templates/${template.template.id}`, { title }),
    key: (key_name) => withBearer.request("POST", "/api/keys", { body: { key_name } }),
  };
  return { fields, id, withKey, chats, chat };
}

test("are refused with such characters by every endpoint", async () => {
  const { fields } = await createFields();
  for (const [field, set] of Object.entries(fields)) {
    for (const [kind, text] of Object.entries(REFUSED)) {
      const answer = await set(text);
      expect([field, kind, answer.status]).toEqual([field, kind, 400]);
      expect(sentenceOf(answer)).toMatch(
        /^\w+ must not have characters that are invisible or change/,
      );
    }
  }
});

test("have the joiners that scripts and emoji need", async () => {
  const { fields } = await createFields();
  for (const [field, set] of Object.entries(fields)) {
    for (const [kind, text] of Object.entries(ACCEPTED)) {
      // A template's has at least three characters.
      const answer = await set(`${text} ${text}`);
      expect([field, kind, answer.status < 300], answer.text).toEqual([field, kind, true]);
    }
  }
});

test("that were stored before stay readable", async () => {
  const { id, withKey, chats, chat } = await createFields();
  const old = "Tour\u202e plan";
  await sql`update accounts set name = ${old} where id = ${id}`;
  await sql`update chats set title = ${old} where id = ${chat.id}`;
  expect((await withKey.get("/api/accounts/me")).body).toMatchObject({ account: { name: old } });
  expect((await withKey.get(`${chats}/${chat.id}`)).body).toMatchObject({ chat: { title: old } });
});
