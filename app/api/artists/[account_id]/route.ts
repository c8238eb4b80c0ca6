import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import * as contracts from "@/lib/artists/contract.ts";
import { removeArtist, selectArtist, updateArtist } from "@/lib/artists/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getArtistContract, ({ caller, params }) =>
    answer(selectArtist(caller.accountId, params.account_id), (artist) => success({ artist })),
  ),
  PATCH: endpoint(contracts.updateArtistContract, ({ caller, params, body }) =>
    answer(updateArtist(caller.accountId, params.account_id, body), (artist) =>
      success({ artist }),
    ),
  ),
  DELETE: endpoint(contracts.deleteArtistContract, ({ caller, params }) =>
    answer(removeArtist(caller.accountId, params.account_id), done),
  ),
});
