/**
 * A music catalog's web API on loopback, in the shape of Spotify's. It holds the same catalog as the
 * embedded one, read from the same tables, so that the two adapters can be held against each other.
 */
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Sql } from "postgres";
import { type FaultyServer, startFaultyServer } from "./faulty-server.ts";

export interface FakeCatalog extends FaultyServer {
  /** What makes a server of the product use it. */
  readonly env: Record<string, string>;
  /** Every token given so far is refused from now on. */
  revokeTokens(): void;
  /** The query of the newest request to a path that begins so. */
  lastQuery(path: string): Readonly<Record<string, string>>;
}

const CLIENT = { id: "the-client", secret: "the-secret-of-the-catalog" };
const [TOKEN_PATH, API] = ["/api/token", "/v1"];

export async function startFakeCatalog(
  sql: Sql,
  settings: { tokenSeconds?: number } = {},
): Promise<FakeCatalog> {
  let tokens = new Set<string>();
  const queries: { path: string; query: Record<string, string> }[] = [];

  const server = await startFaultyServer(async (request, url, response) => {
    const query = Object.fromEntries(url.searchParams);
    queries.push({ path: url.pathname, query });
    const { authorization = "" } = request.headers;
    if (url.pathname === TOKEN_PATH) {
      const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64");
      let body = "";
      for await (const piece of request) body += piece;
      const isRight =
        request.method === "POST" &&
        authorization === `Basic ${basic}` &&
        new URLSearchParams(body).get("grant_type") === "client_credentials";
      if (!isRight) return send(response, 400, { error: "invalid_client" });
      const token = randomUUID();
      tokens.add(token);
      const expires_in = settings.tokenSeconds ?? 3600;
      return send(response, 200, { access_token: token, token_type: "Bearer", expires_in });
    }
    if (!tokens.has(authorization.replace("Bearer ", ""))) {
      return fail(response, 401, "The access token expired");
    }
    if (query.market === "from_token") return fail(response, 400, "Invalid market code");
    const { limit = "20", offset = "0", market = null } = query;
    const page = { href: url.href, limit: Number(limit), offset: Number(offset), next: url.href };

    if (url.pathname === `${API}/search`) {
      const kinds = (query.type ?? "").split(",");
      const [row] = await sql`select catalog_search(
        ${kinds}, ${query.q ?? ""}, '{}', ${market}, ${limit}, ${offset}) as found`;
      const found: Record<string, { total: number; items: object[] }> = row?.found;
      const dressed = Object.entries(found).map(([plural, { total, items }]) => [
        plural,
        // Searches do hold null items.
        { ...page, total, items: [null, ...items.map((item) => dress(plural.slice(0, -1), item))] },
      ]);
      return send(response, 200, Object.fromEntries(dressed));
    }
    const artistId = /^\/v1\/artists\/(\w+)\/albums$/.exec(url.pathname)?.[1];
    if (artistId === undefined) return fail(response, 404, "Service not found");
    const groups = (query.include_groups ?? "").split(",");
    const [row] = await sql`select catalog_artist_albums(
      ${artistId}, ${groups}, ${market}, ${limit}, ${offset}) as found`;
    if (!row?.found) return fail(response, 404, "Resource not found");
    const { total, items }: { total: number; items: object[] } = row.found;
    send(response, 200, { ...page, total, items: items.map((item) => dress("album", item)) });
  });

  return {
    ...server,
    env: {
      CATALOG_CLIENT_ID: CLIENT.id,
      CATALOG_CLIENT_SECRET: CLIENT.secret,
      CATALOG_BASE_URL: `${server.origin}${API}`,
      CATALOG_TOKEN_URL: `${server.origin}${TOKEN_PATH}`,
      LOOKUP_TIMEOUT_MS: "2000",
    },
    revokeTokens: () => {
      tokens = new Set();
    },
    lastQuery: (path) => queries.findLast((one) => one.path.startsWith(path))?.query ?? {},
  };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function fail(response: ServerResponse, status: number, message: string): void {
  send(response, status, { error: { status, message: `Spotify: ${message}` } });
}

/** A thing as the provider tells it: with its own addresses, and more fields than the contract has. */
function dress(kind: string, thing: object): object {
  const fields: Record<string, unknown> = { ...thing };
  delete fields.url;
  // Always null there.
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
