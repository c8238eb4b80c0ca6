/**
 * The catalog of a web API compatible with Spotify's: `GET /search` and `GET /artists/{id}/albums`
 * with a client-credentials token. Its responses are parsed into our records, so that nothing
 * outside the contract passes through, and its name does not appear in ours.
 */
import { z } from "zod";
import { type AppError, appError, isAppError } from "../../../contract/app-error.ts";
import { fetchJson, type UpstreamAnswer } from "../../../platform/outbound/fetch-json.ts";
import { serviceOrigin } from "../../../platform/service-origin.ts";
import { createTtlCache } from "../../../platform/ttl-cache.ts";
import type { AlbumsQuery, CatalogProvider, SearchQuery } from "../../port.ts";
import {
  type AlbumRecord,
  type Findings,
  type Found,
  findingsOf,
  kinds,
  records,
} from "../../records.ts";
import { probeCatalog } from "./probe.ts";
import { createTokenSource } from "./token.ts";

export interface WebApiCatalogSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly baseUrl: string;
  readonly tokenUrl: string;
  /** The deadline of one lookup, including its token and its retry. */
  readonly timeoutMs: number;
}

const CACHE_TTL_MS = 60_000;
const MAX_CACHED_ANSWERS = 500;

const PAGES_ORIGIN = "https://open.spotify.com";
/** Must not appear in URLs of our answers. */
const PROVIDER_NAME = /spotify/i;

export function createWebApiCatalog(settings: WebApiCatalogSettings): CatalogProvider {
  const tokens = createTokenSource(settings);
  const answers = createTtlCache<UpstreamAnswer | AppError>({
    ttlMs: CACHE_TTL_MS,
    maxEntries: MAX_CACHED_ANSWERS,
    shouldKeep: (answer) => !isAppError(answer) && answer.kind === "json",
  });

  const ask = async (url: URL): Promise<UpstreamAnswer> => {
    const deadline = AbortSignal.timeout(settings.timeoutMs);
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

  /** @param missing the message of a 404 */
  const read = async <T>(
    path: string,
    query: Readonly<Record<string, string | number | null>>,
    missing: string,
    parse: (body: unknown) => T | null,
  ): Promise<T | AppError> => {
    const url = new URL(settings.baseUrl.replace(/\/+$/, "") + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== null) url.searchParams.set(name, String(value));
    }
    const answer = await answers.get(url.href, () => ask(url));
    if (isAppError(answer)) return answer;
    if (answer.kind !== "json") return failure(answer, missing);
    return parse(answer.body) ?? unavailable;
  };

  return {
    name: "web-api",
    searchQuery: () => null,
    search: ({ q, kinds: wanted, market, limit, offset }: SearchQuery) =>
      read("/search", { q, type: wanted.join(","), market, limit, offset }, "Not found", (body) =>
        readFindings(body, wanted),
      ),
    listAlbums: ({ artistId, groups, market, limit, offset }: AlbumsQuery) =>
      read(
        `/artists/${artistId}/albums`,
        { include_groups: groups.join(","), market, limit, offset },
        "Artist not found",
        readAlbums,
      ),
    pageOf: (kind, id) => `${PAGES_ORIGIN}/${kind}/${id}`,
    check: (deadline) => probeCatalog(settings, deadline),
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

/** Omits null and invalid items, so that they do not hide the valid ones. */
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
 * remain unchanged.
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
  return typeof fields.id === "string" && isKind(fields.type)
    ? { ...fields, url: openUrl(fields.type, fields.id) }
    : fields;
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
