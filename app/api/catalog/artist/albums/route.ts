import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { listArtistAlbumsContract } from "@/lib/catalog/contract.ts";
import { listArtistAlbums } from "@/lib/catalog/list-artist-albums.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listArtistAlbumsContract, async ({ app, query }) => {
    const page = await listArtistAlbums(app, query);
    return isAppError(page) ? page : { body: page };
  }),
});
