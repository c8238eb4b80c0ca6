/** Web search without a vendor: a few pages of public references of the trade, which a result says of itself. */
import type { SearchResult } from "@platform/agent/tools/search";
import type { SearchProvider } from "../port.ts";
import { readResults } from "../read-results.ts";

const SOURCE = "small index of this installation, not the web";
const NOTE = "From the small index of this installation, not from the web.";

const page = (title: string, url: string, date: string | null, about: string): SearchResult => ({
  title,
  url,
  date,
  excerpt: `${NOTE} ${about}`,
});

const INDEX: readonly SearchResult[] = [
  page(
    "ISRC structure",
    "https://isrc.ifpi.org/isrc-standard/structure",
    null,
    "How an International Standard Recording Code is made up: prefix, year of reference, designation.",
  ),
  page(
    "ERN standard",
    "https://ern.ddex.net/",
    null,
    "DDEX electronic release notification: messages about releases between labels and services.",
  ),
  page(
    "Specifications, templates and guidelines",
    "https://www.themlc.com/specifications-templates-and-guidelines",
    null,
    "Formats of The MLC for members: royalty statements, bulk work registration.",
  ),
  page(
    "About your statement",
    "https://www.prsformusic.com/royalties/about-your-statement",
    null,
    "How to read a royalty statement of PRS for Music: periods, sources, shares.",
  ),
  page(
    "Pitching music to playlist editors",
    "https://artists.spotify.com/help/article/pitching-music-to-playlist-editors",
    null,
    "When and how to pitch an unreleased song to the editors of Spotify's playlists.",
  ),
  page(
    "Apple Music Style Guide",
    "https://help.apple.com/itc/musicstyleguide/en.lproj/static.html",
    null,
    "Rules for titles, artists, artwork and other metadata of music releases.",
  ),
];

export function createEmbeddedSearch(): SearchProvider {
  return {
    name: "embedded",
    async search(request) {
      const words = new Set(request.query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
      const scored = INDEX.map((result) => {
        const text = `${result.title} ${result.excerpt}`.toLowerCase();
        return { result, score: [...words].filter((word) => text.includes(word)).length };
      });
      const found = scored
        .filter(({ score }) => score > 0)
        .sort((one, other) => other.score - one.score);
      const results = readResults(
        found.map(({ result }) => result),
        request,
      );
      return { results, costUsd: 0, source: SOURCE };
    },
  };
}
