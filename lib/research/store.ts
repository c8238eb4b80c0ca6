/** Research in the embedded catalog (supabase/schemas/80_catalog.sql). */
import { z } from "zod";
import { call } from "../platform/database/query.ts";
import type { ArtistKey } from "./port.ts";

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

/** Returns the tracks of an artist; null when there is no such artist. @throws DatabaseUnavailable */
export function selectTracks(artist: ArtistKey): Promise<z.output<typeof tracks>> {
  const args = {
    p_id: "id" in artist ? artist.id : null,
    p_name: "name" in artist ? artist.name : null,
  };
  return call("catalog_research", args, tracks);
}
