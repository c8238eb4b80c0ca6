import { answer, pageOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { createSessionContract, listSessionsContract } from "@/lib/sessions/contract.ts";
import { createSession } from "@/lib/sessions/create-session.ts";
import { selectSessions } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(createSessionContract, ({ app, caller, body, log }) =>
    answer(createSession(app, caller, body, log), (created) => ({ status: 201, body: created })),
  ),
  GET: endpoint(listSessionsContract, async ({ app, caller, query }) => {
    const { items: sessions, nextCursor } = await selectSessions(app.db, caller.accountId, query);
    return pageOf("/api/sessions", query, nextCursor, { sessions });
  }),
});
