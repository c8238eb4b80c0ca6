/** The endpoints of the music catalog. */

import { contract } from "@platform/endpoint/contract/contract";
import { commaList, queryInteger } from "@platform/endpoint/contract/fields";
import { z } from "zod";
import { markets } from "./markets.ts";
import { albumPage, searchResult } from "./present.ts";
import { albumGroups, kinds } from "./records.ts";

/** An upper-case country code, or one of `others`. */
function marketCode(others: readonly string[], error: string) {
  const allowed = [...markets, ...others];
  return z
    .string()
    .refine((code) => allowed.includes(code), { error })
    .meta({ override: { type: "string", enum: allowed } })
    .optional()
    .describe("Only items that are available in this country");
}

const catalogId = z
  .string()
  .regex(/^[A-Za-z0-9]{1,64}$/)
  .describe("The identifier in the catalog");
const limit = queryInteger({ min: 1, max: 50, default: 20 }).describe(
  "The number of items per page",
);
const offsetText = "Index of the first item";

/** The largest offset of a search. */
export const MAX_SEARCH_OFFSET = 10_000;

const shared = { method: "GET", tag: "Catalog", family: "catalog" } as const;

/** Everyone who releases music has named something there. */
const ofCatalog = () => [{ kind: "search", name: "catalog" } as const];

export const listArtistAlbumsContract = contract({
  ...shared,
  auth: "optional",
  path: "/api/catalog/artist/albums",
  runCredential: true,
  words: ofCatalog,
  tool: true,
  summary: "List the albums of an artist",
  description: "By group, newest first. Without a credential, a stricter rate limit applies.",
  query: z.object({
    id: catalogId,
    include_groups: commaList("include_groups", albumGroups)
      .optional()
      .describe("Only these groups, comma-separated"),
    market: marketCode([], "market must be an ISO 3166-1 alpha-2 country code"),
    limit,
    offset: queryInteger({ min: 0, default: 0 }).describe(offsetText),
  }),
  responses: { 200: { description: "One page of albums", schema: albumPage } },
  errors: ["not_found", "upstream_error", "upstream_timeout"],
});

export const searchCatalogContract = contract({
  ...shared,
  auth: "optional",
  path: "/api/catalog/search",
  runCredential: true,
  words: ofCatalog,
  tool: true,
  summary: "Search the catalog",
  description:
    "`q` may contain the filters `artist:`, `album:`, `track:`, `genre:`, `isrc:` and `year:`, each followed by a word or a quoted text. " +
    "`from_token` as `market` means that of the service, which has none. " +
    "Without a credential, a stricter rate limit applies.",
  query: z.object({
    q: z.string().trim().min(1).max(250).describe("Words of the name, and filters"),
    type: commaList("type", kinds).describe("The kinds to search, comma-separated"),
    market: marketCode(
      ["from_token"],
      "market must be an ISO 3166-1 alpha-2 country code or from_token",
    ),
    limit,
    offset: queryInteger({ min: 0, max: MAX_SEARCH_OFFSET, default: 0 }).describe(offsetText),
  }),
  responses: { 200: { description: "One page of each requested type", schema: searchResult } },
  errors: ["not_found", "upstream_error", "upstream_timeout"],
});

export const openPageContract = contract({
  ...shared,
  auth: "none",
  path: "/api/catalog/open",
  runCredential: true,
  words: ofCatalog,
  summary: "Redirect to an item's page at the catalog's provider",
  description: "The target of `external_urls.catalog`, for people: it requires no credential.",
  query: z.object({ type: z.enum(kinds).describe("The type of the item"), id: catalogId }),
  responses: { 302: { description: "The page is at `location`", headers: ["location"] } },
  errors: ["not_found"],
});

export const apiTags = { Catalog: "Artists, albums and tracks." };
