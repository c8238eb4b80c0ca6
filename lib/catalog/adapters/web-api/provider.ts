/**
 * The catalog of a web API in the shape of Spotify's: `GET /search` and `GET /artists/{id}/albums`
 * with a client-credentials token. Its answers are read into our records, so that nothing comes
 * through that is not in the contract; its name stays here.
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
import { createTokenSource } from "./token.ts";

export interface RemoteCatalogSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly baseUrl: string;
  readonly tokenUrl: string;
  /** Of one question: its token and its second try included. */
  readonly timeoutMs: number;
}

/** Milliseconds for which an answer is given again. */
const FRESH = 60_000;
const MOST_ANSWERS = 500;

const PAGES = "https://open.spotify.com";
/** What must not be in an address that we give out. */
const NAME = /spotify/i;

export function createWebApiCatalog(settings: RemoteCatalogSettings): CatalogProvider {
  const tokens = createTokenSource(settings);
  const answers = createTtlCache<UpstreamAnswer | AppError>({
    ttlMs: FRESH,
    maxEntries: MOST_ANSWERS,
    shouldKeep: (answer) => !isAppError(answer) && answer.kind === "json",
  });

  const ask = async (url: URL): Promise<UpstreamAnswer> => {
    const deadline = AbortSignal.timeout(settings.timeoutMs);
    let token = await tokens.get(deadline);
    for (let tries = 1; ; tries++) {
      if (token.kind !== "token") return token;
      const answer = await fetchJson(url, {
        headers: { authorization: `Bearer ${token.value}` },
        deadline,
      });
      const expired = answer.kind === "refused" && answer.status === 401;
      if (!expired || tries === 2) return answer;
      token = await tokens.get(deadline, token);
    }
  };

  /** @param missing the sentence of a 404 */
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
    pageOf: (kind, id) => `${PAGES}/${kind}/${id}`,
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

/** Items that are null or not as they should be are left out: they must not hide the others. */
const pageOf = <S extends z.ZodType>(item: S) =>
  z.object({
    total: z.int().min(0),
    items: z.array(z.unknown()).transform((items) =>
      items.flatMap((given) => {
        const parsed = item.safeParse(withoutName(given));
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
 * The provider's own pages become links through this service (`GET /api/catalog/open`), and pictures
 * on hosts that bear its name are left out. Names and descriptions are content and stay as they are.
 * What is null counts as absent.
 */
function withoutName(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isNamedImage(item)).map((item) => withoutName(item));
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([name, inner]) => [name, withoutName(inner)]),
  );
  return typeof fields.id === "string" && isKind(fields.type)
    ? { ...fields, url: openUrl(fields.type, fields.id) }
    : fields;
}

const isKind = (value: unknown): value is (typeof kinds)[number] =>
  kinds.some((kind) => kind === value);

/** Most arrays are of words: the markets of a page of albums alone are thousands. */
function isNamedImage(item: unknown): boolean {
  if (typeof item !== "object" || item === null || !("url" in item)) return false;
  return typeof item.url === "string" && NAME.test(item.url);
}

function openUrl(kind: string, id: string): string {
  return `${serviceOrigin()}/api/catalog/open?${new URLSearchParams({ type: kind, id })}`;
}
