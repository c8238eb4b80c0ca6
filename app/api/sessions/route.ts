import { pageOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createSessionContract, listSessionsContract } from "@/lib/sessions/contract.ts";
import { insertSession, selectSessions } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createSessionContract, async ({ app, caller, body }) => ({
    status: 201,
    body: await insertSession(caller.accountId, body, app.models.defaultModelId),
  })),
  GET: endpoint(listSessionsContract, async ({ caller, query }) => {
    const { items: sessions, nextCursor } = await selectSessions(caller.accountId, query);
    return pageOf("/api/sessions", query, nextCursor, { sessions });
  }),
});
