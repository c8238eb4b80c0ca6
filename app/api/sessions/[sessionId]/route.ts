import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import {
  deleteSessionContract,
  getSessionContract,
  updateSessionContract,
} from "@/lib/sessions/contract.ts";
import { deleteSession } from "@/lib/sessions/delete-session.ts";
import { selectSession, updateSessionTitle } from "@/lib/sessions/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(getSessionContract, async ({ caller, params }) => {
    const found = await selectSession(caller.accountId, params.sessionId);
    return isAppError(found) ? found : { body: { session: found.session } };
  }),

  PATCH: endpoint(updateSessionContract, async ({ caller, params, body }) => {
    const updated = await updateSessionTitle(caller.accountId, params.sessionId, body.title);
    return isAppError(updated) ? updated : { body: { session: updated.session } };
  }),

  DELETE: endpoint(deleteSessionContract, async ({ caller, params, log }) => {
    const failure = await deleteSession({ accountId: caller.accountId, ...params, log });
    return failure ?? { body: { status: "success" } };
  }),
});
