/**
 * The APIs of Brave, Exa and SearXNG on loopback, over the same pages. Exa publishes an OpenAPI document.
 * Brave's answers have the required fields of https://github.com/brave/brave-search-mcp-server
 * (src/tools/web/types.ts).
 */
import { HttpResponse, http } from "msw";
import { queryOf, servePublished } from "./vendor-server.ts";

interface Page {
  readonly title: string;
  readonly url: string;
  readonly date?: string;
  readonly text: string;
}

export const SEARCH_KEY = "search-key-of-the-tests";
export const EXA_COST_USD = 0.0072;

export type FakeSearch = Awaited<ReturnType<typeof startFakeSearch>>;

/** Every search finds all pages: an adapter must filter where a vendor does so badly. */
export async function startFakeSearch(pages: readonly Page[]) {
  const requests: unknown[] = [];
  const server = await servePublished({ document: "exa" }, [
    http.get("/res/v1/web/search", ({ request }) => {
      requests.push(queryOf(request));
      if (request.headers.get("x-subscription-token") !== SEARCH_KEY) return refuse();
      const results = pages.map(({ title, url, date, text }) => ({
        ...{ type: "search_result", subtype: "generic", title, url, description: text },
        ...{ is_source_local: false, is_source_both: false, is_live: false },
        ...{ family_friendly: true, language: "en" },
        ...(date !== undefined && { page_age: `${date}T10:00:00` }),
      }));
      const web = { type: "search", results, family_friendly: true };
      return HttpResponse.json({ type: "search", web });
    }),
    http.post("/search", async ({ request }) => {
      requests.push(await request.json());
      if (request.headers.get("x-api-key") !== SEARCH_KEY) return refuse();
      const results = pages.map(({ title, url, date, text }) => ({
        ...{ id: url, title, url, text, author: null },
        ...(date !== undefined && { publishedDate: `${date}T00:00:00.000Z` }),
      }));
      return HttpResponse.json({ requestId: "r", results, costDollars: { total: EXA_COST_USD } });
    }),
    http.get("/search", ({ request }) => {
      requests.push(queryOf(request));
      const results = pages.map(({ title, url, date, text }) => ({
        ...{ title, url, content: text, engine: "fake" },
        publishedDate: date === undefined ? null : `${date}T00:00:00`,
      }));
      return HttpResponse.json({ query: "q", results, answers: [], unresponsive_engines: [] });
    }),
  ]);
  return { ...server, requests };
}

const refuse = () => HttpResponse.json({ message: "bad key" }, { status: 401 });
