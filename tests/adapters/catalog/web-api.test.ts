/**
 * The catalog's web API: its errors, its tokens, and the response cache. This file is long because
 * one server serves all of its tests.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { searchCatalogContract } from "../../../lib/catalog/contract.ts";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeCatalog, startFakeCatalog } from "../../support/fakes/catalog.ts";
import { type Fault, PROVIDER_TEXT } from "../../support/fakes/vendor-server.ts";
import { expectErrorShape, sentenceOf } from "../../support/fixtures/shapes.ts";
import { type Client, client } from "../../support/harness/clients.ts";
import { expectPublished } from "../../support/harness/published.ts";
import { startServer } from "../../support/harness/server.ts";
import { sql } from "../../support/harness/stack.ts";

let fake: FakeCatalog;
let remote: RunningNext;
let caller: Client;

beforeAll(async () => {
  fake = await startFakeCatalog(sql);
  remote = await startServer({ env: fake.env });
  caller = client(null, remote.url);
});
afterAll(async () => {
  await remote?.stop();
  await fake?.close();
});

const itemPage = z.looseObject({ items: z.array(z.looseObject({ id: z.string() })) });
const searchBody = z.partialRecord(
  z.enum(["artists", "albums", "tracks", "playlists", "shows", "episodes", "audiobooks"]),
  itemPage,
);
const of = (page: z.output<typeof itemPage> | undefined) => page?.items.map(({ id }) => id) ?? [];

/** A query that cannot be cached yet. */
const newSearch = () => `/api/catalog/search?q=${randomUUID()}&type=artist`;
const newAlbums = () => `/api/catalog/artist/albums?id=${randomUUID().replaceAll("-", "")}`;

const askFifty = () =>
  Promise.all(Array.from({ length: 50 }, async () => (await caller.get(newSearch())).status));
const all200 = Array.from({ length: 50 }, () => 200);

// The first test, because the server must not have a token.
test("a token is fetched once for 50 concurrent requests, and reused by the next 50", async () => {
  const before = fake.count("/api/token");
  expect(await askFifty()).toEqual(all200);
  expect(await askFifty()).toEqual(all200);
  expect(fake.count("/api/token")).toBe(before + 1);
});

const unavailable = [502, "upstream_error", "The catalog is not available"] as const;
const late = [504, "upstream_timeout", "The catalog did not answer in time"] as const;
const limited = [429, "rate_limited", "Too many requests"] as const;

const faults: readonly [string, Fault, readonly [number, string, string]][] = [
  ["400", { status: 400 }, unavailable],
  ["401", { status: 401 }, unavailable],
  ["403", { status: 403 }, unavailable],
  ["429", { status: 429 }, limited],
  ["500", { status: 500 }, unavailable],
  ["501", { status: 501 }, unavailable],
  ["503", { status: 503 }, unavailable],
  ["a redirect", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, unavailable],
  ["HTML", "html", unavailable],
  ["JSON of another kind", { status: 200, body: '{"artists":{"total":"many"}}' }, unavailable],
  ["JSON that is no object", { status: 200, body: "null" }, unavailable],
  ["an empty success", { status: 200, body: "" }, unavailable],
  ["a body cut short", "cut", unavailable],
  ["a connection reset", "reset", unavailable],
  ["silence", "silence", late],
  ["silence after the headers", "stalled body", late],
];

describe.each([
  ["search", "/v1/search", newSearch],
  ["albums", "/v1/artists", newAlbums],
])("%s, when the web API answers with", (_, api, newPath) => {
  test.each(faults)("%s", async (_, fault, [status, code, sentence]) => {
    fake.fail(fault, api);
    const answer = await caller.get(newPath());
    fake.recover();
    expect(answer.status, answer.text).toBe(status);
    expectErrorShape(answer, "catalog");
    expect(answer.body).toEqual({ error: { status, message: sentence } });
    expect(answer.headers.get("x-error-code")).toBe(code);
    const everything = answer.text + JSON.stringify([...answer.headers]);
    expect(everything).not.toMatch(/spotify|status\.example/i);
    expect(PROVIDER_TEXT).toMatch(/spotify/i);
  });

  test("404", async () => {
    fake.failNext(api, { status: 404 });
    const answer = await caller.get(newPath());
    expect(answer.status).toBe(404);
    expectErrorShape(answer, "catalog");
    expect(sentenceOf(answer)).not.toMatch(/spotify/i);
  });

  test.each([
    ["17", "17"],
    ["Wed, 21 Oct 2065 07:28:00 GMT", "Wed, 21 Oct 2065 07:28:00 GMT"],
    ["soon, says Spotify", "5"],
  ])("429 with retry-after: %s, which is passed on when it is one", async (given, passed) => {
    fake.failNext(api, { status: 429, headers: { "retry-after": given } });
    const answer = await caller.get(newPath());
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe(passed);
  });

  test.each<[string, Fault]>([
    ["503", { status: 503 }],
    ["a connection reset", "reset"],
    ["a body cut short", "cut"],
  ])("%s once: it is asked again, and nobody notices", async (_, fault) => {
    fake.failNext(api, fault);
    const answer = await caller.get(newPath());
    // The fake knows no such artist: that is its own word, and not a fault.
    expect([200, 404]).toContain(answer.status);
  });

  test("429 and 403 are not asked again", async () => {
    for (const status of [429, 403]) {
      const before = fake.count(api);
      fake.failNext(api, { status });
      await caller.get(newPath());
      expect(fake.count(api)).toBe(before + 1);
    }
  });
});

describe("answers", () => {
  test("are remembered: the same question reaches the web API once", async () => {
    const path = newSearch();
    const before = fake.count("/v1/search");
    const answers = await Promise.all(Array.from({ length: 10 }, () => caller.get(path)));
    answers.push(await caller.get(path));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(fake.count("/v1/search")).toBe(before + 1);
  });

  test("that are faults are not", async () => {
    const path = newSearch();
    fake.failNext("/v1/search", { status: 403 });
    expect((await caller.get(path)).status).toBe(502);
    expect((await caller.get(path)).status).toBe(200);
  });

  test("of one market are not those of another", async () => {
    const inMarket = async (market: string) =>
      (await caller.get(`/api/catalog/search?q=kilo+static&type=album&market=${market}`)).text;
    expect(await inMarket("US")).not.toBe(await inMarket("DE"));
  });

  test("come from what was asked for, and `from_token` names no market", async () => {
    const q = randomUUID();
    await caller.get(`/api/catalog/search?q=${q}&type=track,artist&market=SE&limit=7&offset=70`);
    const asked = { q, type: "track,artist", limit: "7", offset: "70" };
    expect(fake.lastSearch()).toEqual({ ...asked, market: "SE" });
    await caller.get(
      `/api/catalog/search?q=${q}&type=track,artist&market=from_token&limit=7&offset=70`,
    );
    expect(fake.lastSearch()).toEqual(asked);
  });
});

describe("the token", () => {
  test("that is refused is replaced once for 50 concurrent requests", async () => {
    await caller.get(newSearch());
    fake.revokeTokens();
    const before = fake.count("/api/token");
    expect(await askFifty()).toEqual(all200);
    expect(fake.count("/api/token")).toBe(before + 1);
  });

  test.each<[string, Fault, number]>([
    ["bad client credentials", { status: 400 }, 502],
    ["401", { status: 401 }, 502],
    ["403", { status: 403 }, 502],
    ["404", { status: 404 }, 502],
    ["500", { status: 500 }, 502],
    ["a body cut short", "cut", 502],
    ["a token that is none", { status: 200, body: '{"token":1}' }, 502],
    ["HTML", "html", 502],
    ["429", { status: 429, headers: { "retry-after": "9" } }, 429],
    ["silence", "silence", 504],
  ])(
    "cannot be had (%s): told as what it is, and tried anew by the next",
    async (_, fault, status) => {
      fake.revokeTokens();
      fake.fail(fault, "/api/token");
      const answer = await caller.get(newSearch());
      fake.recover();
      expect(answer.status).toBe(status);
      expectErrorShape(answer, "catalog");
      expect(answer.text).not.toMatch(/spotify|status\.example|the-secret/i);
      expect((await caller.get(newSearch())).status).toBe(200);
    },
  );
});

describe("a token of a short life", () => {
  afterAll(() => {
    fake.issueTokensFor(3600);
    fake.revokeTokens();
  });

  test("is replaced before it ends", async () => {
    fake.revokeTokens();
    fake.issueTokensFor(0.001);
    await caller.get(newSearch());
    const refused = fake.count("/v1/search");
    const before = fake.count("/api/token");
    for (let round = 0; round < 3; round++) await caller.get(newSearch());
    expect(fake.count("/api/token")).toBe(before + 3);
    // None of them was sent with a token that had ended.
    expect(fake.count("/v1/search")).toBe(refused + 3);
  });
});

describe("a page of more items than the web API sends at once", () => {
  const search = async (query: string) => {
    const answer = await caller.get(`/api/catalog/search?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return searchBody.parse(answer.body);
  };
  test("is composed of several, in their order", async () => {
    const all = await search("q=a&type=track,artist&limit=43&offset=3");
    const offsets = [3, 13, 23, 33];
    const tens = offsets.map((offset) => search(`q=a&type=track,artist&limit=10&offset=${offset}`));
    const pages = await Promise.all([...tens, search("q=a&type=track,artist&limit=3&offset=43")]);
    expect(of(all.tracks).length).toBeGreaterThan(10);
    expect(of(all.tracks)).toEqual(pages.flatMap(({ tracks }) => of(tracks)));
    expect(of(all.artists)).toEqual(pages.flatMap(({ artists }) => of(artists)));
    expect(all.tracks).toMatchObject({ limit: 43, offset: 3, total: pages[0]?.tracks?.total });
  });

  test("asks for no page behind the last item", async () => {
    const before = fake.count("/v1/search");
    await search(`q=${randomUUID()}&type=artist&limit=50`);
    expect(fake.count("/v1/search")).toBe(before + 1);
  });

  test("fails as a whole when one of them does", async () => {
    fake.failNext("/v1/search?q=b&type=track&limit=10&offset=10", { status: 403 });
    const ask = () => caller.get("/api/catalog/search?q=b&type=track&limit=30");
    expect([(await ask()).status, (await ask()).status]).toEqual([502, 200]);
  });
});

describe("items without the fields that apps in development mode do not get", () => {
  beforeAll(() => fake.omitRemovedFields(true));
  afterAll(() => fake.omitRemovedFields(false));

  test("are there", async () => {
    const kinds = "artist,album,track,playlist,show,episode,audiobook";
    const idsOf = (body: unknown) => {
      // The embedded catalog, with which this one is compared, names itself.
      const { source: _, ...pages } = Object(body);
      return Object.values(searchBody.parse(pages)).map(of);
    };
    for (const q of ["velvet", "quiet"]) {
      const path = `/api/catalog/search?q=${q}&type=${kinds}&limit=50`;
      const found = await caller.get(path);
      expect(found.status, found.text).toBe(200);
      expectPublished(found, searchCatalogContract);
      expect(idsOf(found.body)).toEqual(idsOf((await client().get(path)).body));
      expect(found.text).not.toMatch(/"(popularity|followers|available_markets|album_group)"/);
    }
    const { body } = await caller.get("/api/catalog/search?q=quiet&type=playlist");
    expect(searchBody.parse(body).playlists?.items[0]).toMatchObject({ tracks: { total: 12 } });
  });
});

test("beyond what the vendor gives of a search, a page is empty and has the total", async () => {
  const page = async (query: string) => {
    const answer = await caller.get(`/api/catalog/search?q=a&type=track&${query}`);
    expect(answer.status, answer.text).toBe(200);
    const { tracks } = z
      .object({ tracks: z.object({ total: z.int(), items: z.array(z.unknown()) }) })
      .parse(answer.body);
    return tracks;
  };
  const { total } = await page("offset=0&limit=1");
  expect(total).toBeGreaterThan(0);
  for (const query of ["offset=995&limit=50", "offset=1000", "offset=10000"]) {
    expect(await page(query), query).toEqual({ total, items: [] });
  }
});
