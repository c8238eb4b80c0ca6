/** Names and titles that people read: nothing in them is invisible or reorders the text around them. */
import { isAppError } from "@platform/endpoint/contract/app-error";
import { validator } from "@platform/endpoint/read-input";
import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { examples } from "../../lib/openapi/examples.ts";
import { operations } from "../../lib/openapi/registry.ts";
import { createPersonWithSession } from "../support/fixtures/sessions.ts";
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

const NAMES = ["name", "title", "label", "key_name"];
/** Their names are parts of the names of tools, and ASCII. */
const ASCII = ["createMcpServer", "updateMcpServer"];

const withNames = operations.flatMap(({ id, contract }) =>
  NAMES.filter((name) => !ASCII.includes(id) && name in Object(Object(contract.body).shape)).map(
    (name) => [`${name} of ${id}`, name, id, contract] as const,
  ),
);

describe.each(withNames)("the %s", (_, name, id, contract) => {
  const validate = validator({ ...contract, params: undefined, query: undefined });
  const { body } = z.looseObject({ body: z.looseObject({}) }).parse(examples[id]?.success?.request);
  const set = (text: string) =>
    validate({ params: undefined, query: undefined, body: { ...body, [name]: text } });

  it.each(Object.entries(REFUSED))("is refused with %s", (_, text) => {
    const message = `${name} must not have characters that are invisible or change`;
    expect(set(text)).toMatchObject({ message: expect.stringContaining(message) });
  });

  it.each(Object.entries(ACCEPTED))("has the joiners of %s", (_, text) => {
    // A template's has at least three characters.
    expect(isAppError(set(`${text} ${text}`))).toBe(false);
  });
});

test("those that were stored before stay readable", async () => {
  const { person, session, chat } = await createPersonWithSession();
  const old = "Tour\u202e plan";
  await sql`update accounts set name = ${old} where id = ${person.id}`;
  await sql`update chats set title = ${old} where id = ${chat.id}`;
  const account = await person.withKey.get("/api/accounts/me");
  expect(account.body).toMatchObject({ account: { name: old } });
  const read = await person.withKey.get(`/api/sessions/${session.id}/chats/${chat.id}`);
  expect(read.body).toMatchObject({ chat: { title: old } });
});
