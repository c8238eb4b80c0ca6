/** Research in the embedded catalog of the project's own database (supabase/schemas/80_catalog.sql). */

import { appError } from "@platform/endpoint/contract/app-error";
import { z } from "zod";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { serviceOrigin } from "../../platform/service-origin.ts";
import type { ResearchProvider } from "../port.ts";

const tracks = z
  .array(
    z.object({
      title: z.string(),
      avatar: z.string(),
      release_date: z.string(),
      /** A page of the track or its album outside this service. */
      url: z.string().nullable(),
      isrcs: z.array(z.string()),
      artists: z.array(z.object({ name: z.string() })),
    }),
  )
  .nullable();

/** @throws DatabaseUnavailable from `listTracks` */
export function createEmbeddedResearch(db: Database): ResearchProvider {
  return {
    name: "embedded",
    source: "small index of this installation",
    async listTracks(artist) {
      const args = {
        id: "id" in artist ? artist.id : null,
        name: "name" in artist ? artist.name : null,
      };
      const found = await call(db, "catalog_research", args, tracks);
      if (found === null) return appError("not_found", "Artist not found");
      return found.map(({ url, ...track }) => ({
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
