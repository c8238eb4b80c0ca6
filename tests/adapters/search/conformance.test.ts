/** The common behavior of every web search provider, whatever its vendor answers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBraveSearch } from "../../../lib/search/adapters/brave.ts";
import { createEmbeddedSearch } from "../../../lib/search/adapters/embedded.ts";
import { createExaSearch } from "../../../lib/search/adapters/exa.ts";
import { createSearxngSearch } from "../../../lib/search/adapters/searxng.ts";
import type { SearchProvider } from "../../../lib/search/port.ts";
import {
  EXA_COST_USD,
  type FakeSearch,
  SEARCH_KEY,
  startFakeSearch,
} from "../../support/fakes/search.ts";

const page = (url: string, more = {}) => ({
  title: "A page",
  url,
  text: "ISRC of a recording",
  ...more,
});
const pages = [
  page("https://isrc.ifpi.org/isrc-standard/structure", {
    title: "ISRC\u0000 <b>structure</b>\n",
    date: "2026-11-02",
  }),
  page("https://isrc.ifpi.org/isrc-standard/structure"),
  page("https://ern.ddex.net/", { text: "ISRC ".repeat(10_000) }),
  page("https://www.themlc.com/isrc", { date: "2020-01-01" }),
  page("https://evil.example/isrc.ifpi.org"),
  page("javascript:alert(1)"),
  page("not a url"),
  ...Array.from({ length: 20 }, (_, number) => page(`https://more.example/${number}`)),
];

let vendor: FakeSearch;
beforeAll(async () => {
  vendor = await startFakeSearch(pages);
});
afterAll(() => vendor?.close());

const providers: readonly (readonly [string, (key?: string) => SearchProvider])[] = [
  ["embedded", () => createEmbeddedSearch()],
  ["brave", (key = SEARCH_KEY) => createBraveSearch(key, vendor.origin)],
  ["exa", (key = SEARCH_KEY) => createExaSearch(key, vendor.origin)],
  ["searxng", () => createSearxngSearch(vendor.origin)],
];

const any = { query: "ISRC", domains: [], since: null };
const never = new AbortController().signal;
const resultsOf = async (provider: SearchProvider, request = {}) => {
  const answer = await provider.search({ ...any, ...request }, never);
  if ("failure" in answer) throw new Error(answer.failure);
  return answer.results;
};

describe.each(providers)("%s", (name, create) => {
  test("finds pages with short, clean texts, each once, and at most ten", async () => {
    const results = await resultsOf(create());
    expect(results[0]).toMatchObject({ url: "https://isrc.ifpi.org/isrc-standard/structure" });
    expect(results.length).toBeLessThanOrEqual(10);
    expect(new Set(results.map(({ url }) => url)).size).toBe(results.length);
    for (const { title, url, date, excerpt } of results) {
      expect(title + excerpt).not.toMatch(/[\p{Cc}]/u);
      expect(title).not.toBe("");
      expect(excerpt.length).toBeLessThanOrEqual(800);
      expect(url).toMatch(/^https?:/);
      expect(date ?? "2026-01-01").toMatch(/^\d{4}-\d\d-\d\d$/);
    }
  });

  test("finds only pages of the domains, with their subdomains", async () => {
    const results = await resultsOf(create(), { domains: ["ifpi.org"] });
    expect(results.map(({ url }) => new URL(url).hostname)).toEqual(["isrc.ifpi.org"]);
    expect(await resultsOf(create(), { domains: ["fpi.org"] })).toEqual([]);
  });

  test("finds no page that is known to be older", async () => {
    const results = await resultsOf(create(), { since: "2026-11-01" });
    expect(results.every(({ date }) => date === null || date >= "2026-11-01")).toBe(true);
    expect(results.length).toBeGreaterThan(0);
  });

  test.runIf(name === "brave").each([
    ["characters", { query: "x".repeat(401) }],
    ["words", { query: "a ".repeat(51).trim() }],
    [
      "words with its domains",
      { query: "a ".repeat(48).trim(), domains: ["a.example", "b.example"] },
    ],
  ])("refuses what has too many %s for its vendor", async (_, request) => {
    const answer = await create().search({ ...any, ...request }, never);
    expect(answer).toEqual({
      failure: expect.stringContaining("at most 400 characters and 50 words"),
    });
  });

  test.runIf(name === "brave" || name === "exa")("says who can correct a wrong key", async () => {
    const answer = await create("wrong").search(any, never);
    expect(answer).toEqual({ failure: expect.stringContaining("operator") });
  });

  test.skipIf(name === "embedded")("survives its vendor's faults", async () => {
    for (const fault of ["html", "cut", "hang-up", { status: 500, body: "{}" }] as const) {
      vendor.fail(fault);
      expect(await create().search(any, never)).toEqual({ failure: "has failed at its vendor" });
    }
    vendor.fail({ status: 429, body: "{}" });
    expect(await create().search(any, never)).toEqual({
      failure: expect.stringContaining("too many"),
    });
    vendor.fail("silence");
    const stopped = AbortSignal.timeout(50);
    expect(await create().search(any, stopped)).toHaveProperty("failure");
    vendor.recover();
  });
});

test("vendors get the filters in their own form, and a search has its vendor's price", async () => {
  const request = { query: "new rules", domains: ["ifpi.org", "ddex.net"], since: "2026-11-01" };
  const costs: (number | null)[] = [];
  vendor.requests.length = 0;
  for (const [, create] of providers) {
    const answer = await create().search(request, never);
    costs.push("failure" in answer ? Number.NaN : answer.costUsd);
  }
  expect(costs).toEqual([0, 0.005, EXA_COST_USD, 0]);
  const withSites = "new rules (site:ifpi.org OR site:ddex.net)";
  expect(vendor.requests).toMatchObject([
    { q: withSites, freshness: expect.stringMatching(/^2026-11-01to\d{4}-\d\d-\d\d$/) },
    {
      query: "new rules",
      includeDomains: request.domains,
      startPublishedDate: "2026-11-01T00:00:00.000Z",
    },
    { q: withSites, format: "json" },
  ]);
});
