import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { readShareContract } from "@/lib/sessions/shares/contract.ts";
import { GONE_AT_ONCE, readShare } from "@/lib/sessions/shares/share-chat.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readShareContract, ({ app, params, query }) =>
    answer(readShare(app.db, params.token, query), (shared) => ({
      body: { status: "success", ...shared },
      headers: GONE_AT_ONCE,
    })),
  ),
});
