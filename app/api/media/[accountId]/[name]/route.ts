import { methods } from "@platform/endpoint/methods";
import { deleteMediaContract, getMediaContract } from "@/lib/content/contract.ts";
import { deleteMedia } from "@/lib/content/media-store.ts";
import { readMedia } from "@/lib/content/read-media.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getMediaContract, ({ app, params, query, request }) =>
    readMedia(app, params.accountId, params.name, request.headers, query.width),
  ),
  DELETE: endpoint(
    deleteMediaContract,
    async ({ app, caller, params }) =>
      (await deleteMedia(app, caller.accountId, params.accountId, params.name)) ?? {
        body: { status: "success" },
      },
  ),
});
