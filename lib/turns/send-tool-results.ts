import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { tooManyTurns } from "@platform/endpoint/contract/quota";
import type { Run } from "../running-turn/run.ts";
import type { EndParts } from "./finish-stream.ts";
import { getRun } from "./get-run.ts";
import { answerToolCalls } from "./store/runs.ts";

interface ToolResult {
  readonly id: string;
  readonly output?: unknown;
  /** Why the call has failed. */
  readonly error?: string | undefined;
}

/**
 * Records results of a run's client tools, all or none of them. The run continues after the last one.
 * Errors: 404 `Run not found`; 409 when the run waits for no call, or has another result of one; 400 for a call
 * that it does not wait for; 429 when the account has too many active turns.
 */
export async function sendToolResults(
  app: EndParts,
  accountId: string,
  runId: string,
  results: readonly ToolResult[],
): Promise<Run | AppError> {
  const outputs = results.map(({ id, output, error }) => ({
    id,
    output: error === undefined ? output : { error },
  }));
  const answer = await answerToolCalls(app.db, accountId, runId, outputs);
  switch (answer.outcome) {
    case "missing":
      return appError("not_found", "Run not found");
    case "not_waiting":
      return appError("already_answered", "The run waits for no result");
    case "answered":
      return appError("already_answered", "The call has another result already");
    case "unknown_call":
      return appError(
        "invalid_request",
        `results.${answer.place}.id is no call that the run waits for`,
        { fields: ["results"] },
      );
    case "too_many_turns":
      return tooManyTurns;
    case "recorded": {
      const run = await getRun(app, accountId, runId);
      await app.engine.wake(answer.turn_id);
      return run;
    }
  }
}
