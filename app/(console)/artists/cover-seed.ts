import type { Artist } from "@/lib/artists/artist.ts";

/** The seed of an artist's drawn picture: the catalog's id, so that both show the same. */
export const coverSeed = ({ catalog_artist_id, name }: Artist): string => catalog_artist_id ?? name;
