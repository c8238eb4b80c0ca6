import { listArtistAlbumsContract } from "@/lib/catalog/contract.ts";
import { listArtistAlbums } from "@/lib/catalog/list-artist-albums.ts";
import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(listArtistAlbumsContract, async ({ query }) => {
    const page = await listArtistAlbums(query);
    return isAppError(page) ? page : { body: page };
  }),
});
