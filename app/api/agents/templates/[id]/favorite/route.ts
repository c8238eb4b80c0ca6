import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { setFavoriteContract } from "@/lib/templates/contract.ts";
import { updateFavorite } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  PUT: endpoint(setFavoriteContract, ({ app, caller, params, body }) =>
    answer(updateFavorite(app.db, caller.accountId, params.id, body.is_favourite), (template) =>
      success({ template }),
    ),
  ),
});
