/**
 * The catalog of a web API compatible with Spotify's: `GET /search` and `GET /artists/{id}/albums` with a
 * client-credentials token. Its responses are parsed into our records: nothing outside the contract
 * passes through, and the provider's name does not appear.
 */

import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { fetchJson, type UpstreamAnswer } from "@platform/kit/outbound/fetch-json";
import { createTtlCache } from "@platform/kit/ttl-cache";
import { z } from "zod";
import { serviceOrigin } from "../../../platform/service-origin.ts";
import type { AlbumsQuery, CatalogProvider, SearchQuery } from "../../port.ts";
import {
  type AlbumRecord,
  type Findings,
  type Found,
  findingsOf,
  kinds,
  records,
} from "../../records.ts";
import { type CatalogApiSettings, createTokenSource, probeCatalog } from "./token.ts";

/**
 * The largest `limit` that the provider accepts of an app in development mode since February 2026, for
 * searches and for the albums of an artist. A larger page is composed of several.
 */
const MAX_PAGE_ITEMS = 10;

/** How many items of a search the provider gives, over all pages. */
const MAX_SEARCH_ITEMS = 1_000;

const CACHE_TTL_MS = 60_000;
const MAX_CACHED_ANSWERS = 500;

const PAGES_ORIGIN = "https://open.spotify.com";
/** Must not appear in URLs of our answers. */
const PROVIDER_NAME = /spotify/i;

interface Page {
  readonly limit: number;
  readonly offset: number;
}

interface Lookup<T> {
  readonly path: string;
  readonly query: Readonly<Record<string, string | null>>;
  /** The message of a 404. */
  readonly missing: string;
  /** Returns null for an answer of another shape. */
  readonly parse: (body: unknown) => T | null;
}

export function createWebApiCatalog(settings: CatalogApiSettings): CatalogProvider {
  const tokens = createTokenSource(settings);
  const answers = createTtlCache<UpstreamAnswer | AppError>({
    ttlMs: CACHE_TTL_MS,
    maxEntries: MAX_CACHED_ANSWERS,
    shouldKeep: (answer) => !isAppError(answer) && answer.kind === "json",
  });

  const ask = async (url: URL, deadline: AbortSignal): Promise<UpstreamAnswer> => {
    let token = await tokens.get(deadline);
    for (let attempt = 1; ; attempt++) {
      if (token.kind !== "token") return token;
      const answer = await fetchJson(url, {
        vendor: "catalog",
        headers: { authorization: `Bearer ${token.value}` },
        deadline,
      });
      const isRejected = answer.kind === "refused" && answer.status === 401;
      if (!isRejected || attempt === 2) return answer;
      token = await tokens.get(deadline, token);
    }
  };

  const read = async <T>(
    { path, query, missing, parse }: Lookup<T>,
    { limit, offset }: Page,
    deadline: AbortSignal,
  ): Promise<T | AppError> => {
    const url = new URL(settings.baseUrl.replace(/\/+$/, "") + path);
    for (const [name, value] of Object.entries({ ...query, limit, offset })) {
      if (value !== null) url.searchParams.set(name, String(value));
    }
    const answer = await answers.get(url.href, () => ask(url, deadline));
    if (isAppError(answer)) return answer;
    if (answer.kind !== "json") return failure(answer, missing);
    return parse(answer.body) ?? unavailable;
  };

  /** Resolves to the provider's pages in their order; the first one says how many there are. */
  const readPages = async <T>(
    lookup: Lookup<T>,
    wanted: Page,
    totalOf: (page: T) => number,
  ): Promise<[T, ...T[]] | AppError> => {
    const deadline = AbortSignal.timeout(settings.timeoutMs);
    const [first, ...more] = providerPages(wanted);
    const page = await read(lookup, first, deadline);
    if (isAppError(page)) return page;
    const existing = more.filter(({ offset }) => offset < totalOf(page));
    const rest = await Promise.all(existing.map((next) => read(lookup, next, deadline)));
    const failed = rest.find(isAppError);
    return failed ?? [page, ...rest.filter((next): next is Awaited<T> => !isAppError(next))];
  };

  return {
    name: "web-api",
    async search({ q, kinds: wanted, market, limit, offset }: SearchQuery) {
      const lookup = {
        path: "/search",
        query: { q, type: wanted.join(","), market },
        missing: "Not found",
        parse: (body: unknown) => readFindings(body, wanted),
      };
      // Beyond its limit only the totals are known.
      const room = MAX_SEARCH_ITEMS - offset;
      const asked = room > 0 ? { limit: Math.min(limit, room), offset } : { limit: 1, offset: 0 };
      const pages = await readPages(lookup, asked, largestTotal);
      if (isAppError(pages)) return pages;
      const found = joinFindings(pages);
      return room > 0 ? found : withoutItems(found);
    },
    async listAlbums({ artistId, groups, market, limit, offset }: AlbumsQuery) {
      const lookup = {
        path: `/artists/${artistId}/albums`,
        query: { include_groups: groups.join(","), market },
        missing: "Artist not found",
        parse: readAlbums,
      };
      const pages = await readPages(lookup, { limit, offset }, ({ total }) => total);
      return isAppError(pages) ? pages : joinPages(pages);
    },
    pageOf: (kind, id) => `${PAGES_ORIGIN}/${kind}/${id}`,
    check: (deadline) => probeCatalog(settings, deadline),
  };
}

/** Splits a page into pages that the provider accepts. `limit` is at least 1. */
function providerPages({ limit, offset }: Page): [Page, ...Page[]] {
  const first = { limit: Math.min(limit, MAX_PAGE_ITEMS), offset };
  if (limit <= MAX_PAGE_ITEMS) return [first];
  return [
    first,
    ...providerPages({ limit: limit - MAX_PAGE_ITEMS, offset: offset + MAX_PAGE_ITEMS }),
  ];
}

const joinPages = <T>([first, ...rest]: readonly [Found<T>, ...Found<T>[]]): Found<T> => ({
  total: first.total,
  items: [first, ...rest].flatMap(({ items }) => items),
});

const withoutItems = (found: Findings): Findings =>
  Object.fromEntries(
    Object.entries(found).map(([plural, page]) => [plural, page && { ...page, items: [] }]),
  );

const largestTotal = (found: Findings): number =>
  Math.max(...kinds.map((kind) => found[`${kind}s`]?.total ?? 0));

function joinFindings(pages: readonly [Findings, ...Findings[]]): Findings {
  const join = <K extends keyof Findings>(plural: K): Findings[K] => {
    const [first, ...rest] = pages.flatMap((page) => page[plural] ?? []);
    return first && (joinPages<unknown>([first, ...rest]) as Findings[K]);
  };
  return {
    artists: join("artists"),
    albums: join("albums"),
    tracks: join("tracks"),
    playlists: join("playlists"),
    shows: join("shows"),
    episodes: join("episodes"),
    audiobooks: join("audiobooks"),
  };
}

const unavailable = appError("upstream_error", "The catalog is not available");

function failure(answer: Exclude<UpstreamAnswer, { kind: "json" }>, missing: string): AppError {
  if (answer.kind === "timeout") {
    return appError("upstream_timeout", "The catalog did not answer in time");
  }
  if (answer.kind === "refused" && answer.status === 404) return appError("not_found", missing);
  if (answer.kind === "refused" && answer.status === 429) {
    return appError("rate_limited", "Too many requests", {
      headers: { "retry-after": answer.retryAfter ?? "5" },
    });
  }
  return unavailable;
}

/** Omits null and invalid items, which would otherwise hide the valid ones. */
const pageOf = <S extends z.ZodType>(item: S) =>
  z.object({
    total: z.int().min(0),
    items: z.array(z.unknown()).transform((items) =>
      items.flatMap((raw) => {
        const parsed = item.safeParse(withoutProvider(raw));
        return parsed.success ? [parsed.data] : [];
      }),
    ),
  });

const albumPage = pageOf(records.album);
const findings = findingsOf(pageOf);

function readAlbums(body: unknown): Found<AlbumRecord> | null {
  return albumPage.safeParse(body).data ?? null;
}

function readFindings(body: unknown, wanted: SearchQuery["kinds"]): Findings | null {
  const found = findings.safeParse(body).data;
  return found && wanted.every((kind) => found[`${kind}s`]) ? found : null;
}

/**
 * Replaces links to the provider's pages by links through this service (`GET /api/catalog/open`),
 * omits images on hosts with its name, and omits null fields. Names and descriptions are content and
 * remain unchanged. A playlist's `tracks` are called `items` in development mode.
 */
function withoutProvider(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isProviderImage(item)).map((item) => withoutProvider(item));
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([name, inner]) => [name, withoutProvider(inner)]),
  );
  if (typeof fields.id !== "string" || !isKind(fields.type)) return fields;
  const tracks = fields.type === "playlist" && fields.items ? { tracks: fields.items } : {};
  return { ...tracks, ...fields, url: openUrl(fields.type, fields.id) };
}

const isKind = (value: unknown): value is (typeof kinds)[number] =>
  kinds.some((kind) => kind === value);

/** Most items are strings, such as the markets of a page of albums: thousands per page. */
function isProviderImage(item: unknown): boolean {
  if (typeof item !== "object" || item === null || !("url" in item)) return false;
  return typeof item.url === "string" && PROVIDER_NAME.test(item.url);
}

function openUrl(kind: string, id: string): string {
  return `${serviceOrigin()}/api/catalog/open?${new URLSearchParams({ type: kind, id })}`;
}
