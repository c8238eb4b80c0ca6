/** A research web API on loopback, in the shape of Songstats'. */
import { HttpResponse, http } from "msw";
import { queryOf, requireHeader, serveHandlers } from "./vendor-server.ts";

export interface FakeArtist {
  readonly id: string;
  readonly name: string;
  readonly tracks: number;
}

export type FakeResearch = Awaited<ReturnType<typeof startFakeResearch>>;

const KEY = "research-key-of-the-tests";
const API = "/enterprise/v1";

export async function startFakeResearch(artists: readonly FakeArtist[]) {
  const server = await serveHandlers([
    requireHeader("apikey", KEY, () => refuse(401, "bad key")),
    http.get(`${API}/artists/search`, ({ request }) => {
      const { q = "" } = queryOf(request);
      const found = artists.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
      const results = found.map(({ id, name }) => ({ songstats_artist_id: id, name, avatar: "x" }));
      return HttpResponse.json({ result: "success", results });
    }),
    http.get(`${API}/artists/catalog`, ({ request }) => {
      const { songstats_artist_id, limit, offset } = queryOf(request);
      const artist = artists.find(({ id }) => id === songstats_artist_id);
      if (!artist) return refuse(404, "no such artist");
      const start = Number(offset);
      const numbers = Array.from({ length: artist.tracks }, (_, index) => index);
      const catalog = numbers.slice(start, start + Number(limit)).map((number) => ({
        songstats_track_id: `t${number}`,
        title: `${artist.name} ${number}`,
        avatar: `https://images.example.com/${number}.jpg`,
        release_date: "2024-05-31",
        site_url: `https://tracks.example.com/${number}`,
        isrcs: [`XXABC26${String(number).padStart(5, "0")}`],
        artists: [{ songstats_artist_id: artist.id, name: artist.name }],
        labels: [{ name: "not in the contract" }],
      }));
      return HttpResponse.json({ result: "success", source_ids: [], catalog });
    }),
  ]);
  return {
    ...server,
    /** The settings that make a server of the product use this API. */
    env: {
      RESEARCH_API_KEY: KEY,
      RESEARCH_BASE_URL: `${server.origin}${API}`,
      TEST_CONSTANTS: '{"VENDOR_TIMEOUT_MS":4000}',
    },
  };
}

const refuse = (status: number, message: string) =>
  HttpResponse.json({ message: `Songstats: ${message}` }, { status });
