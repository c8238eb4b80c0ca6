import { answer, listOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { listRunsContract, startRunContract } from "@/lib/turns/run-contract.ts";
import { startedAnswer, startRun } from "@/lib/turns/start-run.ts";
import { selectRuns } from "@/lib/turns/store/runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listRunsContract, async ({ caller, query }) => {
    const page = await selectRuns(caller.accountId, query);
    return listOf("/api/chat/runs", query, "runs", page);
  }),
  POST: endpoint(startRunContract, ({ app, caller, effectId, body, log }) => {
    const { prompt, messages, ...options } = body;
    const given = messages?.length ? { messages } : { prompt: prompt ?? "" };
    return answer(startRun(app, { ...options, caller, given, effectId, log }), startedAnswer);
  }),
});
