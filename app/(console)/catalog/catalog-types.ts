import type { z } from "zod";
import type { listArtistAlbumsContract, searchCatalogContract } from "@/lib/catalog/contract.ts";

export type CatalogSearch = z.output<(typeof searchCatalogContract)["responses"][200]["schema"]>;
export type AlbumPage = z.output<(typeof listArtistAlbumsContract)["responses"][200]["schema"]>;
export type CatalogArtist = NonNullable<CatalogSearch["artists"]>["items"][number];
export type CatalogAlbum = AlbumPage["items"][number];
export type CatalogTrack = NonNullable<CatalogSearch["tracks"]>["items"][number];
