/** The research web API: conformance, pages, errors and caching. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listTracksContract } from "../../../lib/research/contract.ts";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeResearch, startFakeResearch } from "../../support/fakes/research.ts";
import type { Fault } from "../../support/fakes/vendor-server.ts";
import { expectErrorShape } from "../../support/fixtures/shapes.ts";
import { type Client, client } from "../../support/harness/clients.ts";
import { expectPublished } from "../../support/harness/published.ts";
import { startServer } from "../../support/harness/server.ts";

const artists = [
  { id: "many0001", name: "Many Tracks", tracks: 250 },
  { id: "exact002", name: "Echo", tracks: 2 },
  { id: "before01", name: "Echo Chamber", tracks: 3 },
  { id: "full0003", name: "Full Page", tracks: 100 },
  { id: "none0004", name: "No Tracks", tracks: 0 },
  { id: "huge0005", name: "Huge", tracks: 2_100 },
];
const search = "/enterprise/v1/artists/search";
const catalog = "/enterprise/v1/artists/catalog";
const published = listTracksContract.responses[200].schema;

let fake: FakeResearch;
let remote: RunningNext;
let caller: Client;

beforeAll(async () => {
  // The result with only the same prefix comes first, as a provider may rank it.
  fake = await startFakeResearch([...artists].sort((a, b) => (a.id < b.id ? -1 : 1)));
  remote = await startServer({ env: fake.env });
  caller = client(null, remote.url);
});
afterAll(async () => {
  await remote?.stop();
  await fake?.close();
});

const ask = (query: Record<string, string>) =>
  caller.get(`/api/research/tracks?${new URLSearchParams(query)}`);

async function titles(query: Record<string, string>): Promise<string[]> {
  const answer = await ask(query);
  expect(answer.status, answer.text).toBe(200);
  expectPublished(answer, listTracksContract);
  return published.parse(answer.body).tracks.map(({ title }) => title);
}

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

describe("tracks of the web API", () => {
  test("have the specification's fields and no other", async () => {
    const answer = await ask({ artist: "Echo" });
    expect(answer.body).toEqual({
      status: "success",
      tracks: [0, 1].map((number) => ({
        title: `Echo ${number}`,
        avatar: `https://images.example.com/${number}.jpg`,
        release_date: "2024-05-31",
        site_url: `https://tracks.example.com/${number}`,
        isrcs: [`XXABC260000${number}`],
        artists: [{ name: "Echo" }],
      })),
    });
  });

  test("are those of the very name, before names that begin so", async () => {
    expect(await titles({ artist: "ECHO" })).toEqual(numbered("Echo", 2));
    expect(await titles({ artist: "echo ch" })).toEqual(numbered("Echo Chamber", 3));
  });

  test("are all pages, each track once, in their order", async () => {
    expect(await titles({ artist: "Many Tracks" })).toEqual(numbered("Many Tracks", 250));
    expect(await titles({ id: "full0003" })).toEqual(numbered("Full Page", 100));
    expect(await titles({ id: "none0004" })).toEqual([]);
  });

  test("are 20 pages at most", async () => {
    const before = fake.count(catalog);
    expect(await titles({ id: "huge0005" })).toEqual(numbered("Huge", 2_000));
    expect(fake.count(catalog)).toBe(before + 20);
  });

  test("by id are found without a search, and the id wins", async () => {
    const before = fake.count(search);
    expect(await titles({ id: "exact002", artist: "Huge" })).toEqual(numbered("Echo", 2));
    expect(fake.count(search)).toBe(before);
  });

  test("are cached, also for concurrent requests", async () => {
    const own = await startServer({ env: fake.env });
    try {
      const asking = client(null, own.url);
      const before = fake.count(search);
      const path = "/api/research/tracks?artist=Echo";
      await Promise.all(Array.from({ length: 10 }, () => asking.get(path)));
      await asking.get(path);
      expect(fake.count(search)).toBe(before + 1);
    } finally {
      await own.stop();
    }
  });

  test("of an artist that it does not know are 404", async () => {
    const unknown: Record<string, string>[] = [{ artist: "Nobody" }, { id: "nobody" }];
    for (const query of unknown) {
      const answer = await ask(query);
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({ status: "error", error: "Artist not found" });
    }
  });
});

const faults: readonly [string, Fault, number, string, number][] = [
  ["400", { status: 400 }, 502, "upstream_error", 400],
  ["401", { status: 401 }, 502, "upstream_error", 401],
  ["403", { status: 403 }, 502, "upstream_error", 403],
  ["429", { status: 429 }, 429, "rate_limited", 429],
  ["500", { status: 500 }, 502, "upstream_error", 500],
  ["501", { status: 501 }, 501, "not_implemented", 501],
  ["503", { status: 503 }, 502, "upstream_error", 503],
  ["504", { status: 504 }, 502, "upstream_error", 504],
  ["HTML", "html", 502, "upstream_error", 502],
  ["JSON of another kind", { status: 200, body: "[]" }, 502, "upstream_error", 502],
  ["a body cut short", "cut", 502, "upstream_error", 502],
  ["a connection reset", "reset", 502, "upstream_error", 502],
  ["silence", "silence", 504, "upstream_timeout", 504],
  ["silence after the headers", "stalled body", 504, "upstream_timeout", 504],
];

describe.each([
  ["the search for the artist", search, () => ({ artist: `Echo ${randomUUID()}` })],
  ["the tracks", catalog, () => ({ id: randomUUID() })],
])("when %s ends with", (_, path, newQuery) => {
  test.each(faults)("%s", async (_, fault, status, code, named) => {
    fake.fail(fault, path);
    const answer = await ask(newQuery());
    fake.recover();
    expect(answer.status, answer.text).toBe(status);
    expectErrorShape(answer, "error");
    expect(answer.body).toEqual({ status: "error", error: `Request failed with status ${named}` });
    expect(answer.headers.get("x-error-code")).toBe(code);
    expect(answer.text + JSON.stringify([...answer.headers])).not.toMatch(
      /songstats|research-key/i,
    );
  });

  test("404", async () => {
    fake.failNext(path, { status: 404 });
    const answer = await ask(newQuery());
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ status: "error", error: "Artist not found" });
  });

  test("429 and a retry-after, which is passed on", async () => {
    fake.failNext(path, { status: 429, headers: { "retry-after": "33" } });
    expect((await ask(newQuery())).headers.get("retry-after")).toBe("33");
  });
});

describe("a fault", () => {
  test.each<[string, Fault]>([
    ["503", { status: 503 }],
    ["a connection reset", "reset"],
  ])("that passes (%s) is not noticed", async (_, passing) => {
    const id = "before01";
    const own = await startServer({ env: fake.env });
    const before = fake.count(catalog);
    fake.failNext(catalog, passing);
    const answer = await client(null, own.url).get(`/api/research/tracks?id=${id}`);
    await own.stop();
    expect(published.parse(answer.body).tracks).toHaveLength(3);
    expect(fake.count(catalog)).toBe(before + 2);
  });

  test("on a later page is a failure, and no shorter list", async () => {
    fake.failNext(catalog, "none", "none", { status: 403 });
    const answer = await ask({ id: "many0001" });
    expect(answer.status).toBe(502);
    expect(await titles({ id: "many0001" })).toEqual(numbered("Many Tracks", 250));
  });
});
