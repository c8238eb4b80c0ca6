import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { after } from "next/server";
import { endpoint } from "@/lib/http/endpoint.ts";
import { runTaskContract } from "@/lib/tasks/contract.ts";
import { runTaskNow } from "@/lib/tasks/fire-tasks.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(runTaskContract, async ({ app, caller, params, effectId, log, ...input }) => {
    const { idempotencyKey } = input;
    const attempt = { caller, effectId, idempotencyKey, keepAlive: after };
    const run = await runTaskNow(app, attempt, params.id, log);
    if (isAppError(run)) return run;
    const { taskRunId, runId, chatId, sessionId } = run;
    const ids = { task_run_id: taskRunId, run_id: runId, chat_id: chatId, session_id: sessionId };
    const headers = { location: `/api/chat/runs/${runId}` };
    return { status: 202, body: { status: "success", ...ids }, headers };
  }),
});
