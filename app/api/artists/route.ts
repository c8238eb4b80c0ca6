import { artistAnswer } from "@/lib/artists/artist.ts";
import { createArtistContract, listArtistsContract } from "@/lib/artists/contract.ts";
import { insertArtist, selectArtists } from "@/lib/artists/store.ts";
import { answer, listOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createArtistContract, ({ caller, body }) =>
    answer(insertArtist(caller.accountId, body), (created) => ({
      status: 201,
      ...artistAnswer(created),
    })),
  ),
  GET: endpoint(listArtistsContract, async ({ caller, query }) => {
    const page = await selectArtists(caller.accountId, query.org_id, query);
    return listOf("/api/artists", query, "artists", page);
  }),
});
