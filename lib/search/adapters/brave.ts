/** Web search with Brave: https://api-dashboard.search.brave.com/app/documentation */
import { z } from "zod";
import type { SearchProvider } from "../port.ts";
import { askVendor, MAX_RESULTS, readResults, withSites } from "../read-results.ts";

const MAX_CHARS = 400;
const MAX_WORDS = 50;
const tooLong = `takes at most ${MAX_CHARS} characters and ${MAX_WORDS} words, with the domains: ask for less`;

/** The price of the Search plan: 5 USD for 1,000 requests. */
const PRICE_USD = 0.005;

const found = z.object({
  web: z
    .object({
      results: z.array(
        z
          .looseObject({ page_age: z.unknown().optional(), description: z.unknown().optional() })
          .transform(({ page_age: date, description: excerpt, ...rest }) => ({
            ...rest,
            date,
            excerpt,
          })),
      ),
    })
    .optional(),
});

export function createBraveSearch(apiKey: string, baseUrl: string): SearchProvider {
  const headers = { "x-subscription-token": apiKey, accept: "application/json" };
  return {
    name: "brave",
    async search(request, signal) {
      const q = withSites(request);
      if (q.length > MAX_CHARS || q.split(/\s+/).length > MAX_WORDS) return { failure: tooLong };
      const today = new Date().toISOString().slice(0, 10);
      const url = new URL("/res/v1/web/search", baseUrl);
      url.search = new URLSearchParams({
        q,
        count: String(MAX_RESULTS),
        text_decorations: "false",
        ...(request.since !== null && { freshness: `${request.since}to${today}` }),
      }).toString();
      const answer = await askVendor(url, { headers }, found, signal);
      if ("failure" in answer) return answer;
      return { results: readResults(answer.web?.results ?? [], request), costUsd: PRICE_USD };
    },
  };
}
