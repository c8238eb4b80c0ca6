/** Research in the embedded catalog (supabase/migrations/…_catalog.sql). */
import { z } from "zod";
import { appError } from "../../contract/app-error.ts";
import { isRaised, rpc } from "../../platform/database/query.ts";
import { serviceOrigin } from "../../platform/service-origin.ts";
import type { ResearchProvider } from "../port.ts";

const rows = z
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

export function createEmbeddedResearch(): ResearchProvider {
  return {
    name: "embedded",
    listTracks: async (artist) => {
      const found = await rpc(
        "catalog_research",
        {
          p_id: "id" in artist ? artist.id : null,
          p_name: "name" in artist ? artist.name : null,
        },
        rows,
      );
      if (isRaised(found)) throw new Error(`catalog_research: ${found.message}`);
      if (found === null) return appError("not_found", "Artist not found");
      return found.map(({ url, ...track }) => ({
        ...track,
        site_url: url ?? searchFor(track.title),
      }));
    },
  };
}

/** Where this service tells about a track that has no page of its own. */
function searchFor(title: string): string {
  const query = new URLSearchParams({ q: title.slice(0, 250), type: "track" });
  return `${serviceOrigin()}/api/catalog/search?${query}`;
}
