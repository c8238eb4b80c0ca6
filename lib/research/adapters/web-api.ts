/**
 * Research with a web API compatible with Songstats': `GET /artists/search?q=` finds artists,
 * `GET /artists/catalog?songstats_artist_id=` lists their tracks in pages.
 */

import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { fetchJson, type UpstreamAnswer } from "@platform/kit/outbound/fetch-json";
import { probeJson } from "@platform/kit/outbound/probe";
import { createTtlCache } from "@platform/kit/ttl-cache";
import { z } from "zod";
import type { ResearchTrack } from "../contract.ts";
import type { ArtistKey, ResearchProvider } from "../port.ts";

export interface WebApiResearchSettings {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** The deadline of one page; a whole lookup has three times as long. */
  readonly timeoutMs: number;
}

const MAX_PAGES = 20;
const PAGE_SIZE = 100;
const CACHE_TTL_MS = 60_000;
const MAX_CACHED_ANSWERS = 200;

const artists = z.object({
  results: z.array(z.object({ songstats_artist_id: z.string().min(1), name: z.string() })),
});
const text = z
  .string()
  .nullish()
  .transform((given) => given ?? "");
const track = z.object({
  title: z.string(),
  avatar: text,
  release_date: text,
  site_url: text,
  isrcs: z.array(z.string()).default([]),
  artists: z.array(z.object({ name: z.string() })).default([]),
});
const tracksPage = z.object({ catalog: z.array(z.unknown()) });

const artistNotFound = appError("not_found", "Artist not found");

export function createWebApiResearch(settings: WebApiResearchSettings): ResearchProvider {
  const answers = createTtlCache<readonly ResearchTrack[] | AppError>({
    ttlMs: CACHE_TTL_MS,
    maxEntries: MAX_CACHED_ANSWERS,
    shouldKeep: (answer) => !isAppError(answer),
  });

  const read = async <S extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: S,
    deadline: AbortSignal,
  ): Promise<z.output<S> | AppError> => {
    const url = new URL(settings.baseUrl.replace(/\/+$/, "") + path);
    url.search = new URLSearchParams(query).toString();
    const answer = await fetchJson(url, {
      vendor: "research",
      headers: { apikey: settings.apiKey },
      deadline: AbortSignal.any([deadline, AbortSignal.timeout(settings.timeoutMs)]),
    });
    if (answer.kind !== "json") return failure(answer);
    const parsed = schema.safeParse(answer.body);
    return parsed.success ? parsed.data : failedWith(502);
  };

  const findId = async (artist: ArtistKey, deadline: AbortSignal): Promise<string | AppError> => {
    if ("id" in artist) return artist.id;
    const found = await read("/artists/search", { q: artist.name, limit: "10" }, artists, deadline);
    if (isAppError(found)) return found;
    const exact = found.results.find(({ name }) => fold(name) === fold(artist.name));
    return (exact ?? found.results[0])?.songstats_artist_id ?? artistNotFound;
  };

  const fetchTracks = async (artist: ArtistKey): Promise<readonly ResearchTrack[] | AppError> => {
    const deadline = AbortSignal.timeout(3 * settings.timeoutMs);
    const id = await findId(artist, deadline);
    if (isAppError(id)) return id;
    const tracks: ResearchTrack[] = [];
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = {
        songstats_artist_id: id,
        limit: String(PAGE_SIZE),
        offset: String(page * PAGE_SIZE),
      };
      const found = await read("/artists/catalog", query, tracksPage, deadline);
      if (isAppError(found)) return found;
      // Invalid tracks are omitted, because they would hide the valid ones.
      tracks.push(...found.catalog.flatMap((item) => track.safeParse(item).data ?? []));
      if (found.catalog.length < PAGE_SIZE) break;
    }
    return tracks;
  };

  return {
    name: "web-api",
    listTracks: (artist) => answers.get(JSON.stringify(artist), () => fetchTracks(artist)),
    async check(deadline) {
      const url = new URL(`${settings.baseUrl.replace(/\/+$/, "")}/artists/search?q=a&limit=1`);
      return [
        await probeJson(
          url,
          { vendor: "research", headers: { apikey: settings.apiKey }, deadline },
          access,
        ),
      ];
    },
  };
}

const access = { credentials: ["RESEARCH_API_KEY"], address: ["RESEARCH_BASE_URL"] };

const fold = (name: string): string =>
  name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();

function failure(answer: Exclude<UpstreamAnswer, { kind: "json" }>): AppError {
  if (answer.kind === "timeout") {
    return appError("upstream_timeout", "Request failed with status 504");
  }
  if (answer.kind === "broken") return failedWith(502);
  return answer.status === 404 ? artistNotFound : failedWith(answer.status, answer.retryAfter);
}

/** Passes the status of the provider on in the message, such as `Request failed with status 501`. */
function failedWith(status: number, retryAfter: string | null = null): AppError {
  const message = `Request failed with status ${status}`;
  switch (status) {
    case 429:
      return appError("rate_limited", message, { headers: { "retry-after": retryAfter ?? "5" } });
    case 501:
      return appError("not_implemented", message);
    default:
      return appError("upstream_error", message);
  }
}
