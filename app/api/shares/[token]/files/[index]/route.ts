import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { readSharedFileContract } from "@/lib/sessions/shares/contract.ts";
import { readSharedFile } from "@/lib/sessions/shares/share-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readSharedFileContract, ({ app, params }) =>
    readSharedFile(app.db, params.token, params.index),
  ),
});
