/** Requests that spell fields in the other of camelCase and snake_case than the documents. */
import { expect, it } from "vitest";
import { sentenceOf } from "../support/fixtures/shapes.ts";
import { createAccount, createPerson, link } from "../support/harness/clients.ts";

it("names artist, organization and account in either spelling, with the same access", async () => {
  const person = await createPerson();
  const organization = await createAccount({ kind: "organization" });
  const artist = await createAccount({ kind: "artist" });
  await link(organization.id, person.id);
  const start = (fields: object) => person.withKey.post("/api/sessions", fields);
  expect((await start({ artist_id: artist.id })).status).toBe(404);
  await link(organization.id, artist.id);
  const started = await start({ artist_id: artist.id, organizationId: organization.id });
  expect(started.body).toMatchObject({
    session: { artistId: artist.id, organizationId: organization.id },
  });
  const other = await createAccount({ kind: "organization" });
  expect((await start({ organizationId: other.id })).status).toBe(403);
  const lists = await Promise.all(
    ["accountId", "account_id"].map((name) =>
      person.withKey.get(`/api/artists?${name}=${other.id}`),
    ),
  );
  expect(lists.map(({ status }) => status)).toEqual([403, 403]);
});

it("refuses two spellings that differ, and what must not be given in any", async () => {
  const { id, withKey } = await createPerson();
  const differ = await withKey.post("/api/tasks", { artist_id: id, artistId: "other" });
  expect([differ.status, sentenceOf(differ)]).toEqual([
    400,
    "artist_id and artistId must not differ",
  ]);
  const key = await withKey.post("/api/keys", { keyName: "mine", accountId: id });
  expect([key.status, sentenceOf(key)]).toEqual([400, "account_id must not be provided"]);
});
