/** Both adapters of the catalog, over the same catalog, give the same answers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listArtistAlbumsContract, searchCatalogContract } from "../../../lib/catalog/contract.ts";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeCatalog, startFakeCatalog } from "../../support/fakes/catalog.ts";
import { client } from "../../support/harness/clients.ts";
import { expectPublished } from "../../support/harness/published.ts";
import { startServer } from "../../support/harness/server.ts";
import { sql, stack } from "../../support/harness/stack.ts";

let fake: FakeCatalog;
let remote: RunningNext;
let artistId: string;

beforeAll(async () => {
  fake = await startFakeCatalog(sql);
  remote = await startServer({ env: { ...fake.env, PUBLIC_URL: stack.url } });
  const [row] = await sql`select id from catalog_artists where name = 'Velvet Harbor'`;
  artistId = String(row?.id);
});
afterAll(async () => {
  await remote?.stop();
  await fake?.close();
});

/** Where things are seen outside differs by nature, and only the embedded catalog names itself. */
function withoutPages(value: unknown): unknown {
  const { source: _, ...body } = Object(value);
  const text = JSON.stringify(body, (name, inner) => (name === "external_urls" ? {} : inner));
  return JSON.parse(text);
}

const ask = async (path: string) => {
  const [embedded, web] = await Promise.all([
    client().get(path),
    client(null, remote.url).get(path),
  ]);
  return { embedded, web };
};

describe("the same from the embedded catalog and from the web API", () => {
  test.each([
    "q=velvet+harbor&type=artist",
    "q=velvet&type=artist,album,track,playlist,show,episode,audiobook&limit=50",
    "q=quiet&type=playlist,show,episode,audiobook",
    "q=a&type=track&limit=7&offset=14",
    "q=a&type=album&market=JP",
    "q=a&type=album&market=from_token",
    "q=nothing+has+this+name&type=artist,track",
    "q=Ámbar&type=track&offset=9999",
  ])("GET /api/catalog/search?%s", async (query) => {
    const { embedded, web } = await ask(`/api/catalog/search?${query}`);
    for (const answer of [embedded, web]) {
      expect(answer.status, answer.text).toBe(200);
      expectPublished(answer, searchCatalogContract);
    }
    expect(withoutPages(web.body)).toEqual(withoutPages(embedded.body));
  });

  test.each([
    "",
    "&include_groups=album,single",
    "&include_groups=appears_on",
    "&market=US",
    "&limit=2&offset=2",
    "&offset=500",
  ])("GET /api/catalog/artist/albums?id=…%s", async (query) => {
    const { embedded, web } = await ask(`/api/catalog/artist/albums?id=${artistId}${query}`);
    for (const answer of [embedded, web]) {
      expect(answer.status, answer.text).toBe(200);
      expectPublished(answer, listArtistAlbumsContract);
    }
    expect(withoutPages(web.body)).toEqual(withoutPages(embedded.body));
    expect(web.body).not.toHaveProperty("source");
    expect(embedded.body).toHaveProperty("source", "small index of this installation");
  });

  test("an artist that there is not", async () => {
    const { embedded, web } = await ask("/api/catalog/artist/albums?id=nobody");
    expect(embedded.status).toBe(404);
    expect([web.status, web.text]).toEqual([embedded.status, embedded.text]);
  });
});

describe("the web API", () => {
  test("its name is in no answer, and its pages are reached through this service", async () => {
    const { web } = await ask("/api/catalog/search?q=velvet&type=artist,album,track&limit=50");
    expect(web.text).not.toMatch(/spotify/i);
    const page = `${stack.url}/api/catalog/open?type=artist&id=${artistId}`;
    expect(web.body).toMatchObject({ artists: { items: [{ external_urls: { catalog: page } }] } });
    const albums = await ask(`/api/catalog/artist/albums?id=${artistId}`);
    expect(albums.web.text).not.toMatch(/spotify/i);
  });

  test("is named in the health report by what it is, not by whose it is", async () => {
    const answer = await client(null, remote.url).get("/api/health");
    expect(answer.text).toContain('{"name":"catalog","adapter":"web-api"}');
  });
});
