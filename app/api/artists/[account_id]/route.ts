import { answer, done, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import * as contracts from "@/lib/artists/contract.ts";
import { removeArtist, selectArtist, updateArtist } from "@/lib/artists/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getArtistContract, ({ app: { db }, caller, params }) =>
    answer(selectArtist(db, caller.accountId, params.account_id), (artist) => success({ artist })),
  ),
  PATCH: endpoint(contracts.updateArtistContract, ({ app, caller, params, body }) =>
    answer(updateArtist(app.db, caller.accountId, params.account_id, body), (artist) =>
      success({ artist }),
    ),
  ),
  DELETE: endpoint(contracts.deleteArtistContract, ({ app, caller, params }) =>
    answer(removeArtist(app.db, caller.accountId, params.account_id), done),
  ),
});
