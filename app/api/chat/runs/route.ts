import { answer, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listRunsContract, startRunContract } from "@/lib/turns/run-contract.ts";
import { startedAnswer, startRun } from "@/lib/turns/start-run.ts";
import { countWaiting, selectRuns } from "@/lib/turns/store/runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listRunsContract, async ({ app, caller: { accountId }, query }) => {
    const waiting = query.include && (await countWaiting(app.db, accountId));
    const page = await selectRuns(app.db, accountId, query);
    const { body, headers } = listOf("/api/chat/runs", query, "runs", page);
    return { headers, body: { ...body, ...(waiting !== undefined && { waiting }) } };
  }),
  POST: endpoint(startRunContract, ({ app, caller, effectId, body, log }) => {
    const { prompt, messages, ...options } = body;
    const given = messages?.length ? { messages } : { prompt: prompt ?? "" };
    return answer(startRun(app, { ...options, caller, given, effectId, log }), startedAnswer);
  }),
});
