import { linkHeader } from "@/lib/contract/pagination.ts";
import { route } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { createSessionContract, listSessionsContract } from "@/lib/sessions/contract.ts";
import { createSession } from "@/lib/sessions/create-session.ts";
import { selectSessions, sessionsRead } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(createSessionContract, async ({ caller, body }) => ({
    status: 201,
    body: await createSession({
      accountId: caller.accountId,
      organizationId: body.organization_id,
      artistId: body.artistId,
      title: body.title,
    }),
  })),

  GET: route(
    listSessionsContract,
    async ({ caller, query, read }) => {
      const { sessions, nextCursor } = await selectSessions(caller.accountId, query, read);
      return {
        body: { sessions, next_cursor: nextCursor },
        headers: linkHeader("/api/sessions", query.limit, nextCursor),
      };
    },
    ({ query }) => sessionsRead(query),
  ),
});
