/** Web search with Exa: https://docs.exa.ai/reference/search */
import { z } from "zod";
import type { SearchProvider } from "../port.ts";
import { askVendor, MAX_RESULTS, readResults } from "../read-results.ts";

const EXCERPT_CHARS = 800;

const found = z.object({
  results: z.array(
    z
      .looseObject({ publishedDate: z.unknown().optional(), text: z.unknown().optional() })
      .transform(({ publishedDate: date, text: excerpt, ...rest }) => ({ ...rest, date, excerpt })),
  ),
  costDollars: z.object({ total: z.number().nonnegative() }).optional(),
});

export function createExaSearch(apiKey: string, baseUrl: string): SearchProvider {
  const url = new URL("/search", baseUrl);
  const headers = { "x-api-key": apiKey };
  return {
    name: "exa",
    async search(request, signal) {
      const body = {
        query: request.query,
        numResults: MAX_RESULTS,
        contents: { text: { maxCharacters: EXCERPT_CHARS } },
        ...(request.domains.length > 0 && { includeDomains: request.domains }),
        ...(request.since !== null && { startPublishedDate: `${request.since}T00:00:00.000Z` }),
      };
      const answer = await askVendor(url, { headers, body }, found, signal);
      if ("failure" in answer) return answer;
      const costUsd = answer.costDollars?.total ?? null;
      return { results: readResults(answer.results, request), costUsd };
    },
  };
}
