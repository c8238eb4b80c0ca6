import { answer, listOf } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { startRunContract } from "@/lib/turns/contract.ts";
import { pollUrl } from "@/lib/turns/get-run.ts";
import { listRunsContract } from "@/lib/turns/run-contract.ts";
import { startRun } from "@/lib/turns/start-run.ts";
import { selectRuns } from "@/lib/turns/store/runs.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listRunsContract, async ({ caller, query }) => {
    const page = await selectRuns(caller.accountId, query);
    return listOf("/api/chat/runs", query, "runs", page);
  }),
  POST: endpoint(startRunContract, ({ caller, body: { prompt, messages, ...body }, ...input }) => {
    const given = messages?.length ? { messages } : { prompt: prompt ?? "" };
    const run = startRun({ ...body, caller, given, effectId: input.effectId, log: input.log });
    return answer(run, (body) => ({ status: 202, body, headers: pollUrl(body) }));
  }),
});
