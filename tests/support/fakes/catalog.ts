/**
 * A music catalog's web API on loopback, in the shape of Spotify's. It holds the same catalog as
 * the embedded one, read from the same tables, so the two adapters can be compared.
 */
import { randomUUID } from "node:crypto";
import { HttpResponse, http } from "msw";
import type { Sql } from "postgres";
import { queryOf, servePublished } from "./vendor-server.ts";

export type FakeCatalog = Awaited<ReturnType<typeof startFakeCatalog>>;

const CLIENT = { id: "the-client", secret: "the-secret-of-the-catalog" };

/** Of apps in development mode since February 2026. */
const DEFAULT_LIMIT = "5";
/** "Maximum offset (including limit): 1,000", as the vendor's reference of its search says. */
const MAX_SEARCH_END = 1_000;
const MAX_LIMIT = 10;
/** Fields that the vendor has removed. A playlist's `tracks` are now its `items`. */
const REMOVED_FIELDS = [
  "album_group",
  "available_markets",
  "followers",
  "popularity",
  "publisher",
  "tracks",
];

/** A field that the vendor may add one day. */
const UNHEARD_OF = "unheard_of";

const published = { document: "spotify", base: "/v1", covers: "/v1/", asDocumented } as const;

export async function startFakeCatalog(sql: Sql) {
  const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64");
  let tokens = new Set<string>();
  let lastSearch: Record<string, string> = {};
  let omitsFields = false;
  let tokenSeconds = 3600;
  const present = (kind: string, item: CatalogItem): object => {
    const complete = addVendorFields(kind, item);
    return omitsFields ? withoutRemoved(complete) : complete;
  };

  const server = await servePublished(published, [
    http.post("/api/token", async ({ request }) => {
      const isRight =
        request.headers.get("authorization") === `Basic ${basic}` &&
        new URLSearchParams(await request.text()).get("grant_type") === "client_credentials";
      if (!isRight) return HttpResponse.json({ error: "invalid_client" }, { status: 400 });
      const token = randomUUID();
      tokens.add(token);
      const issued = { access_token: token, token_type: "Bearer", expires_in: tokenSeconds };
      return HttpResponse.json(issued);
    }),
    http.all("*", ({ request }) => {
      const token = request.headers.get("authorization")?.replace("Bearer ", "");
      if (!tokens.has(token ?? "")) return refuse(401, "The access token expired");
      if (queryOf(request).market === "from_token") return refuse(400, "Invalid market code");
      if (Number(queryOf(request).limit ?? DEFAULT_LIMIT) > MAX_LIMIT)
        return refuse(400, "Invalid limit");
    }),
    http.get("/v1/search", async ({ request }) => {
      const query = queryOf(request);
      lastSearch = query;
      const end = Number(query.offset ?? 0) + Number(query.limit ?? DEFAULT_LIMIT);
      if (end > MAX_SEARCH_END) return refuse(400, "Invalid offset");
      const { type = "", q = "", market = null, limit = DEFAULT_LIMIT, offset = "0" } = query;
      const [row] = await sql`select catalog_search(
        ${type.split(",")}, ${q}, '{}', ${market}, ${limit}, ${offset}) as found`;
      const found: Record<string, { total: number; items: CatalogItem[] }> = row?.found;
      const pages = Object.entries(found).map(([plural, { total, items }]) => {
        const complete = items.map((item) => present(plural.slice(0, -1), item));
        // The vendor's searches hold null items.
        return [plural, { ...pageOf(request), total, items: [null, ...complete] }];
      });
      return HttpResponse.json(Object.fromEntries(pages));
    }),
    http.get<{ id: string }>("/v1/artists/:id/albums", async ({ request, params }) => {
      const {
        include_groups = "",
        market = null,
        limit = DEFAULT_LIMIT,
        offset = "0",
      } = queryOf(request);
      const [row] = await sql`select catalog_artist_albums(
        ${params.id}, ${include_groups.split(",")}, ${market}, ${limit}, ${offset}) as found`;
      if (!row?.found) return refuse(404, "Resource not found");
      const { total, items }: { total: number; items: CatalogItem[] } = row.found;
      const albums = items.map((item) => present("album", item));
      return HttpResponse.json({ ...pageOf(request), total, items: albums });
    }),
  ]);

  return {
    ...server,
    /** The settings that make a server of the product use this catalog. */
    env: {
      CATALOG_CLIENT_ID: CLIENT.id,
      CATALOG_CLIENT_SECRET: CLIENT.secret,
      CATALOG_BASE_URL: `${server.origin}/v1`,
      CATALOG_TOKEN_URL: `${server.origin}/api/token`,
      TEST_CONSTANTS: '{"VENDOR_TIMEOUT_MS":4000}',
    },
    /** Refuses every token that was issued so far. */
    revokeTokens() {
      tokens = new Set();
    },
    /** Sets how long the tokens last that are issued from now on. Default: an hour. */
    issueTokensFor(seconds: number) {
      tokenSeconds = seconds;
    },
    /** Sets whether the fields that apps in development mode do not get are omitted. Default: they are sent. */
    omitRemovedFields(omitted: boolean) {
      omitsFields = omitted;
    },
    /** Returns the query of the newest search. */
    lastSearch: () => lastSearch,
  };
}

function pageOf(request: Request) {
  const { limit = DEFAULT_LIMIT, offset = "0" } = queryOf(request);
  return {
    href: request.url,
    limit: Number(limit),
    offset: Number(offset),
    next: request.url,
    previous: null,
  };
}

const refuse = (status: number, message: string) =>
  HttpResponse.json({ error: { status, message: `Spotify: ${message}` } }, { status });

interface CatalogItem {
  readonly id?: string;
  readonly url?: string;
  readonly followers?: object;
  readonly artists?: readonly CatalogItem[];
  readonly album?: CatalogItem;
  readonly images?: readonly object[];
}

const spoken = { html_description: "", is_externally_hosted: false, languages: ["en"] };
const OTHER_FIELDS: Readonly<Record<string, object>> = {
  track: { preview_url: "https://p.scdn.co/preview" },
  episode: { ...spoken, is_playable: true },
  audiobook: { html_description: "", languages: ["en"], copyrights: [], media_type: "audio" },
};

/** Adds the vendor's fields: its addresses, and more than the contract has. */
function addVendorFields(kind: string, { url: _, ...item }: CatalogItem): object {
  const { id, followers, artists, album, images } = item;
  const cover = { url: "https://image-cdn.spotifycdn.com/x", height: 1, width: 1 };
  return {
    ...item,
    // The vendor always sends null.
    ...(followers && { followers: { ...followers, href: null } }),
    ...(artists && { artists: artists.map((artist) => addVendorFields("artist", artist)) }),
    ...(album && { album: addVendorFields("album", album) }),
    ...(images && { images: [...images, cover] }),
    type: kind,
    uri: `spotify:${kind}:${id}`,
    href: `https://api.spotify.com/v1/${kind}s/${id}`,
    external_urls: { spotify: `https://open.spotify.com/${kind}/${id}` },
    ...OTHER_FIELDS[kind],
    [UNHEARD_OF]: true,
  };
}

/** The document knows neither the null items of the vendor's searches nor the fields to come. */
function asDocumented(answer: unknown): unknown {
  const text = JSON.stringify(answer, (name, value) => {
    if (name === "items" && Array.isArray(value)) return value.filter((item) => item !== null);
    return name === UNHEARD_OF ? undefined : value;
  });
  return JSON.parse(text);
}

function withoutRemoved(item: object): object {
  const isPlaylist = "type" in item && item.type === "playlist";
  const renamed = isPlaylist
    ? { ...item, items: { href: "https://api.spotify.com", total: 12 } }
    : item;
  const text = JSON.stringify(renamed, (name, value) =>
    REMOVED_FIELDS.includes(name) ? undefined : value,
  );
  return JSON.parse(text);
}
