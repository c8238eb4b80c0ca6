import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { setFavoriteContract } from "@/lib/templates/contract.ts";
import { updateFavorite } from "@/lib/templates/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  PUT: endpoint(setFavoriteContract, async ({ caller, params, body }) => {
    const template = await updateFavorite(caller.accountId, params.id, body.is_favourite);
    return isAppError(template) ? template : { body: { status: "success", template } };
  }),
});
