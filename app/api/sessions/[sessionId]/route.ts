import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import * as contracts from "@/lib/sessions/contract.ts";
import { deleteSession } from "@/lib/sessions/delete-session.ts";
import { type StoredSession, selectSession, updateSessionTitle } from "@/lib/sessions/store.ts";

const sessionAnswer = ({ session }: StoredSession) => ({ body: { session } });

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(contracts.getSessionContract, ({ app, caller, params }) =>
    answer(selectSession(app.db, caller.accountId, params.sessionId), sessionAnswer),
  ),
  PATCH: endpoint(contracts.updateSessionContract, ({ app: { db }, caller, params, body }) =>
    answer(updateSessionTitle(db, caller.accountId, params.sessionId, body.title), sessionAnswer),
  ),
  DELETE: endpoint(contracts.deleteSessionContract, ({ app, caller, params, log }) =>
    answer(deleteSession(app, { accountId: caller.accountId, ...params, log }), done),
  ),
});
