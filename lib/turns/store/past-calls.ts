/** The query of a past model call. */

import type { StepResult } from "@platform/agent/step-result";
import { z } from "zod";
import type { Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { turnState } from "../../running-turn/state.ts";
import type { CallPlace } from "../model-call-contract.ts";

const modelCall = z.object({
  turn: turnState,
  /** Of the turn or its subagent, up to the call. */
  steps: z.array(z.custom<StepResult>((value) => typeof value === "object" && value !== null)),
  /** The text of the compaction that applied. */
  summary: z.string().nullable(),
  /** Of the subagent. */
  instructions: z.string().nullable(),
  /** The steps that the message of the answer has of this turn and later ones. */
  steps_since: z.number(),
});

/** Returns null when the account has no such run. */
export const selectModelCall = (db: Database, accountId: string, runId: string, place: CallPlace) =>
  call(
    db,
    "get_model_call",
    {
      accountId,
      runId,
      index: place.index,
      toolCallId: place.tool_call_id ?? null,
      subagentIndex: place.subagent_index,
    },
    modelCall.nullable(),
  );
