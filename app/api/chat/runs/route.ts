import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { startRunContract } from "@/lib/turns/contract.ts";
import { startRun } from "@/lib/turns/start-run.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(startRunContract, async ({ caller, body, effectId, log }) => {
    const { prompt, messages, artistId = null, model = null, ...rest } = body;
    const given = messages?.length ? { messages } : { prompt: prompt ?? "" };
    const run = await startRun({ caller, effectId, given, artistId, model, ...rest, log });
    if (isAppError(run)) return run;
    const headers = { location: `/api/chat/runs/${run.runId}`, "retry-after": "1" };
    return { status: 202, body: run, headers };
  }),
});
