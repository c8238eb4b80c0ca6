/**
 * A music catalog's web API on loopback, in the shape of Spotify's. It holds the same catalog as the
 * embedded one, read from the same tables, so that the two adapters can be held against each other.
 */
import { randomUUID } from "node:crypto";
import { HttpResponse, http } from "msw";
import type { Sql } from "postgres";
import { serveHandlers, type VendorServer } from "./vendor-server.ts";

export interface FakeCatalog extends VendorServer {
  /** The settings that make a server of the product use this catalog. */
  readonly env: Record<string, string>;
  /** Refuses every token that was issued so far. */
  revokeTokens(): void;
  /** Returns the query of the newest search. */
  lastSearch(): Readonly<Record<string, string>>;
}

const CLIENT = { id: "the-client", secret: "the-secret-of-the-catalog" };

export async function startFakeCatalog(
  sql: Sql,
  { tokenSeconds = 3600 } = {},
): Promise<FakeCatalog> {
  const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64");
  let tokens = new Set<string>();
  let lastSearch: Record<string, string> = {};

  const server = await serveHandlers([
    http.post("/api/token", async ({ request }) => {
      const isRight =
        request.headers.get("authorization") === `Basic ${basic}` &&
        new URLSearchParams(await request.text()).get("grant_type") === "client_credentials";
      if (!isRight) return HttpResponse.json({ error: "invalid_client" }, { status: 400 });
      const token = randomUUID();
      tokens.add(token);
      return HttpResponse.json({
        access_token: token,
        token_type: "Bearer",
        expires_in: tokenSeconds,
      });
    }),
    http.all("*", ({ request }) => {
      const token = request.headers.get("authorization")?.replace("Bearer ", "");
      if (!tokens.has(token ?? "")) return refuse(401, "The access token expired");
      if (queryOf(request).market === "from_token") return refuse(400, "Invalid market code");
    }),
    http.get("/v1/search", async ({ request }) => {
      const query = queryOf(request);
      lastSearch = query;
      const { type = "", q = "", market = null, limit = "20", offset = "0" } = query;
      const [row] = await sql`select catalog_search(
        ${type.split(",")}, ${q}, '{}', ${market}, ${limit}, ${offset}) as found`;
      const found: Record<string, { total: number; items: object[] }> = row?.found;
      const dressed = Object.entries(found).map(([plural, { total, items }]) => [
        plural,
        {
          ...pageOf(request),
          total,
          // Searches do hold null items.
          items: [null, ...items.map((item) => dress(plural.slice(0, -1), item))],
        },
      ]);
      return HttpResponse.json(Object.fromEntries(dressed));
    }),
    http.get<{ id: string }>("/v1/artists/:id/albums", async ({ request, params }) => {
      const { include_groups = "", market = null, limit = "20", offset = "0" } = queryOf(request);
      const [row] = await sql`select catalog_artist_albums(
        ${params.id}, ${include_groups.split(",")}, ${market}, ${limit}, ${offset}) as found`;
      if (!row?.found) return refuse(404, "Resource not found");
      const { total, items }: { total: number; items: object[] } = row.found;
      const albums = items.map((item) => dress("album", item));
      return HttpResponse.json({ ...pageOf(request), total, items: albums });
    }),
  ]);

  return {
    ...server,
    env: {
      CATALOG_CLIENT_ID: CLIENT.id,
      CATALOG_CLIENT_SECRET: CLIENT.secret,
      CATALOG_BASE_URL: `${server.origin}/v1`,
      CATALOG_TOKEN_URL: `${server.origin}/api/token`,
      LOOKUP_TIMEOUT_MS: "2000",
    },
    revokeTokens() {
      tokens = new Set();
    },
    lastSearch: () => lastSearch,
  };
}

const queryOf = (request: Request): Record<string, string> =>
  Object.fromEntries(new URL(request.url).searchParams);

function pageOf(request: Request) {
  const { limit = "20", offset = "0" } = queryOf(request);
  return { href: request.url, limit: Number(limit), offset: Number(offset), next: request.url };
}

const refuse = (status: number, message: string) =>
  HttpResponse.json({ error: { status, message: `Spotify: ${message}` } }, { status });

/** Adds what the vendor's own answers have: its addresses, and more fields than the contract. */
function dress(kind: string, thing: object): object {
  const fields: Record<string, unknown> = { ...thing };
  delete fields.url;
  // The vendor always sends null.
  if (typeof fields.followers === "object") {
    fields.followers = { ...fields.followers, href: null };
  }
  for (const [name, inner] of Object.entries(fields)) {
    if (name === "artists" && Array.isArray(inner)) {
      fields.artists = inner.map((artist) => dress("artist", artist));
    }
    if (name === "album" && typeof inner === "object" && inner)
      fields.album = dress("album", inner);
    if (name === "images" && Array.isArray(inner)) {
      const cover = { url: "https://image-cdn.spotifycdn.com/x", height: 1, width: 1 };
      fields.images = [...inner, cover];
    }
  }
  const id = String(fields.id);
  return {
    ...fields,
    type: kind,
    uri: `spotify:${kind}:${id}`,
    href: `https://api.spotify.com/v1/${kind}s/${id}`,
    external_urls: { spotify: `https://open.spotify.com/${kind}/${id}` },
    preview_url: "https://p.scdn.co/preview",
    unheard_of: true,
  };
}
