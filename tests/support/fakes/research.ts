/** A research web API on loopback, in the shape of Songstats'. */
import { type FaultyServer, startFaultyServer } from "./faulty-server.ts";

export interface FakeArtist {
  readonly id: string;
  readonly name: string;
  readonly tracks: number;
}

export interface FakeResearch extends FaultyServer {
  /** What makes a server of the product use it. */
  readonly env: Record<string, string>;
}

const KEY = "research-key-of-the-tests";
const API = "/enterprise/v1";

export async function startFakeResearch(artists: readonly FakeArtist[]): Promise<FakeResearch> {
  const server = await startFaultyServer(async (request, url, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const query = url.searchParams;
    if (request.headers.apikey !== KEY) {
      send(401, { message: "Songstats: bad key" });
    } else if (url.pathname === `${API}/artists/search`) {
      const words = (query.get("q") ?? "").toLowerCase();
      const found = artists.filter(({ name }) => name.toLowerCase().includes(words));
      const results = found.map(({ id, name }) => ({ songstats_artist_id: id, name, avatar: "x" }));
      send(200, { result: "success", results });
    } else if (url.pathname === `${API}/artists/catalog`) {
      const artist = artists.find(({ id }) => id === query.get("songstats_artist_id"));
      if (!artist) {
        send(404, { message: "Songstats: no such artist" });
        return;
      }
      const [limit, offset] = [Number(query.get("limit")), Number(query.get("offset"))];
      const numbers = Array.from({ length: artist.tracks }, (_, index) => index);
      const catalog = numbers.slice(offset, offset + limit).map((number) => ({
        songstats_track_id: `t${number}`,
        title: `${artist.name} ${number}`,
        avatar: `https://images.example.com/${number}.jpg`,
        release_date: "2024-05-31",
        site_url: `https://tracks.example.com/${number}`,
        isrcs: [`XXABC26${String(number).padStart(5, "0")}`],
        artists: [{ songstats_artist_id: artist.id, name: artist.name }],
        labels: [{ name: "not in the contract" }],
      }));
      send(200, { result: "success", source_ids: [], catalog });
    } else send(404, { message: "Songstats: no such path" });
  });
  return {
    ...server,
    env: {
      RESEARCH_API_KEY: KEY,
      RESEARCH_BASE_URL: `${server.origin}${API}`,
      LOOKUP_TIMEOUT_MS: "2000",
    },
  };
}
