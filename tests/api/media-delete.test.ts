import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deleteMediaContract } from "../../lib/content/contract.ts";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { imagesIn } from "../support/fixtures/generations.ts";
import { makeMedia, mediaBytesOf } from "../support/fixtures/media.ts";
import { createAccount, createPerson, link } from "../support/harness/clients.ts";
import { expectPublished } from "../support/harness/published.ts";
import { setting, sql } from "../support/harness/stack.ts";

const pathOf = (url: string): string => new URL(url).pathname;
const fileOf = (url: string): string =>
  join(setting("DATA_DIR"), "media", ...url.split("/").slice(-2));

describe("DELETE /api/media/{accountId}/{name} 200", () => {
  test("generated files are gone at once, for caches too, and no longer count", async () => {
    const person = await createPerson();
    const body = { prompt: "A red kite", num_images: 2 };
    const { images } = imagesIn(await person.withKey.post("/api/content/image", body));
    const [first = "", second = ""] = images;
    const etag = (await fetch(first)).headers.get("etag") ?? "";
    const before = await mediaBytesOf(person.id);

    const answer = await person.withKey.delete(pathOf(first));
    expectPublished(answer, deleteMediaContract);
    const conditions: Record<string, string>[] = [
      {},
      { "if-none-match": etag },
      { range: "bytes=0-9" },
    ];
    for (const headers of conditions) {
      expect((await fetch(first, { headers })).status).toBe(404);
    }
    await expect(access(fileOf(first))).rejects.toThrow();
    const kept = (await (await fetch(second)).arrayBuffer()).byteLength;
    expect(await mediaBytesOf(person.id)).toBe(kept);
    expect(before).toBeGreaterThan(kept);
  });

  test("by whoever may act for the account that has it", async () => {
    const [member, artist, organization] = await Promise.all([
      createPerson(),
      createAccount({ kind: "artist" }),
      createAccount({ kind: "organization" }),
    ]);
    await link(organization.id, member.id);
    await link(organization.id, artist.id);
    for (const { id } of [member, artist, organization]) {
      const url = await makeMedia(id, await makeImage(), "image/png");
      expect((await member.withBearer.delete(pathOf(url))).status).toBe(200);
      expect((await fetch(url)).status).toBe(404);
    }
  });

  test("a deletion that was cut off before the file was removed can be repeated", async () => {
    const person = await createPerson();
    const url = await makeMedia(person.id, await makeImage(), "image/png");
    await sql`select delete_media(${person.id}, ${person.id}, ${url.split("/").at(-1) ?? ""})`;
    expect((await person.withKey.delete(pathOf(url))).status).toBe(200);
    await expect(access(fileOf(url))).rejects.toThrow();
    expect((await person.withKey.delete(pathOf(url))).status).toBe(404);
  });

  test("of two at once one deletes, and the account's other files stay", async () => {
    const person = await createPerson();
    const [url, other] = await Promise.all([
      makeMedia(person.id, await makeImage(), "image/png"),
      makeMedia(person.id, await makeImage("webp"), "image/webp"),
    ]);
    const answers = await Promise.all([1, 2, 3].map(() => person.withKey.delete(pathOf(url))));
    // One that comes between the row and the file helps with the same deletion.
    for (const { status } of answers) expect([200, 404]).toContain(status);
    expect(answers.map(({ status }) => status)).toContain(200);
    expect(await readdir(join(setting("DATA_DIR"), "media", person.id))).toEqual([
      other.split("/").at(-1),
    ]);
    expect(await mediaBytesOf(person.id)).toBe((await makeImage("webp")).byteLength);
  });
});

describe("DELETE /api/media/{accountId}/{name} 404", () => {
  test("a file that a run is still making", async () => {
    const person = await createPerson();
    const url = await makeMedia(person.id, await makeImage(), "image/png");
    await sql`update task_runs set status = 'EXECUTING' where account_id = ${person.id}`;
    expect((await person.withKey.delete(pathOf(url))).status).toBe(404);
    expect((await fetch(url)).status).toBe(200);
  });
});
