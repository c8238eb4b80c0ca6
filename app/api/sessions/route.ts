import { pageOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createSession } from "@/lib/sessions/change-chat.ts";
import { createSessionContract, listSessionsContract } from "@/lib/sessions/contract.ts";
import { selectSessions } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createSessionContract, async ({ app, caller, body }) => ({
    status: 201,
    body: await createSession(app, { accountId: caller.accountId, ...body }),
  })),
  GET: endpoint(listSessionsContract, async ({ caller, query }) => {
    const { items: sessions, nextCursor } = await selectSessions(caller.accountId, query);
    return pageOf("/api/sessions", query, nextCursor, { sessions });
  }),
});
