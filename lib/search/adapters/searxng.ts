/** Web search with a SearXNG server whose settings allow the format JSON: https://docs.searxng.org/dev/search_api.html */

import { probeJson } from "@platform/kit/outbound/probe";
import { z } from "zod";
import type { SearchProvider } from "../port.ts";
import { askVendor, readResults, withSites } from "../read-results.ts";

const found = z.object({
  results: z.array(
    z
      .looseObject({ publishedDate: z.unknown().optional(), content: z.unknown().optional() })
      .transform(({ publishedDate: date, content: excerpt, ...rest }) => ({
        ...rest,
        date,
        excerpt,
      })),
  ),
});

export function createSearxngSearch(baseUrl: string): SearchProvider {
  const urlOf = (query: string): URL => {
    const url = new URL(`${baseUrl.replace(/\/+$/, "")}/search`);
    url.search = new URLSearchParams({ q: query, format: "json" }).toString();
    return url;
  };
  return {
    name: "searxng",
    async search(request, signal) {
      const answer = await askVendor(urlOf(withSites(request)), { headers: {} }, found, signal);
      if ("failure" in answer) return answer;
      return { results: readResults(answer.results, request), costUsd: 0 };
    },
    check: async (deadline) => [
      await probeJson(
        urlOf("a"),
        { vendor: "search", headers: {}, deadline },
        { credentials: [], address: ["SEARCH_PROVIDER"] },
      ),
    ],
  };
}
