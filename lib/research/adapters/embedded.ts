/** Research in the project's own database. */
import { appError } from "../../contract/app-error.ts";
import { serviceOrigin } from "../../platform/service-origin.ts";
import type { ResearchProvider } from "../port.ts";
import { selectTracks } from "../store.ts";

export function createEmbeddedResearch(): ResearchProvider {
  return {
    name: "embedded",
    async listTracks(artist) {
      const tracks = await selectTracks(artist);
      if (tracks === null) return appError("not_found", "Artist not found");
      return tracks.map(({ url, ...track }) => ({
        ...track,
        site_url: url ?? searchUrl(track.title),
      }));
    },
  };
}

/** Returns a search of this service for a track without its own page. */
function searchUrl(title: string): string {
  const query = new URLSearchParams({ q: title.slice(0, 250), type: "track" });
  return `${serviceOrigin()}/api/catalog/search?${query}`;
}
