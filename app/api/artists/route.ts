import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { createArtistContract, listArtistsContract } from "@/lib/artists/contract.ts";
import { insertArtist, selectArtists } from "@/lib/artists/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createArtistContract, ({ app, caller, body }) =>
    answer(insertArtist(app.db, caller.accountId, body), (artist) => created({ artist })),
  ),
  GET: endpoint(listArtistsContract, async ({ app, caller, query }) => {
    const page = await selectArtists(app.db, caller.accountId, query.org_id, query);
    return listOf("/api/artists", query, "artists", page);
  }),
});
