/**
 * Condenses memories that are nearly full: a model writes a shorter text, which a person accepts, or this worker if
 * the account allows it. The account that has filled the memory pays for it.
 */

import { consolidateMemory } from "@platform/agent/consolidate-memory";
import { BudgetRefusal, budgetRefusalIn } from "@platform/agent/models/budget-refusal";
import { drain, runPeriodically } from "@platform/kit/drain";
import { JobWorker } from "@platform/kit/job-worker";
import { unifiedDiffOfFiles } from "@platform/kit/unified-diff";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { measureCalls, type UsageEntry } from "../running-turn/measure-step.ts";
import { answeringModels, type ModelCallParts } from "../running-turn/model-call.ts";
import { reserveJobCall } from "../running-turn/store.ts";
import { acceptProposal } from "./accept-proposal.ts";
import {
  claimProposals,
  endProposal,
  type MemoryJob,
  type ProposalEnd,
  staleProposal,
} from "./store.ts";

/** Memories of a process at a time. */
const SLOTS = 2;
const DEADLINE_MS = 2 * 60_000;
/** Longer than the deadline, so only the lease of a process that has died is taken over. */
const LEASE_SECONDS = 3 * 60;
/** After a failure of the model, and after a refusal of the budget. */
const RETRY_SECONDS = 5 * 60;
const REFUSED_SECONDS = 60 * 60;
/** The `tool` of its calls in usage entries, with the same value as for summaries, which have no run. */
const SUMMARY_CALLS = -1;
/** A text that keeps less may have lost facts, so a person must accept it. */
const MIN_KEPT_SHARE = 0.25;

type Needs = ModelCallParts & Parts<"db" | "contentStorage">;

export class MemoryWorker {
  readonly #worker = new JobWorker<MemoryJob>();

  untilIdle = (deadline: AbortSignal): Promise<void> => this.#worker.untilIdle(deadline);

  /** Claims proposals that are due. Never throws. */
  wake(app: Needs): void {
    this.#worker.wake({
      slots: SLOTS,
      claim: (limit) => claimProposals(app.db, limit, LEASE_SECONDS),
      attempt: (job) => attempt(app, job),
      messages: {
        claim: "memories could not be condensed",
        attempt: "a memory was not condensed",
      },
    });
  }
}

async function attempt(app: Needs, job: MemoryJob): Promise<void> {
  if (job.text !== null) {
    // Refused, it waits for a person, or is stale.
    await acceptProposal(app, job.accountId, job.id);
    return;
  }
  const usage: UsageEntry[] = [];
  const first = { step: job.attempt, tool: SUMMARY_CALLS, call: 0 };
  const reserve = async (estimateUsd: number | null): Promise<void> => {
    const lease = { accountId: job.accountId, id: job.leaseId };
    const refusal = await reserveJobCall(app.db, lease, estimateUsd, staleProposal);
    if (refusal) throw new BudgetRefusal(refusal);
  };
  const measure = measureCalls(app, first, reserve, usage);
  const model_id = config().SUMMARY_MODEL ?? app.models.defaultModelId;
  const turn = { account_id: job.accountId, chat_id: job.id, model_id, options: {} };
  const models = answeringModels(app, job.id, turn, measure);
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const answer = await consolidateMemory(models, job.base, signal).catch((failure: unknown) => ({
    failure,
  }));
  await measure.ended();
  await endProposal(app.db, job, endOf(job, answer), usage);
}

function endOf(
  { base }: MemoryJob,
  answer: Awaited<ReturnType<typeof consolidateMemory>>,
): ProposalEnd {
  if ("failure" in answer) {
    const retrySeconds = budgetRefusalIn(answer.failure) ? REFUSED_SECONDS : RETRY_SECONDS;
    return { written: null, mayAccept: false, retrySeconds };
  }
  const { text } = answer;
  if (text === null) return { written: null, mayAccept: false, retrySeconds: null };
  const path = "MEMORY.md";
  const diff = unifiedDiffOfFiles([{ path, text: base }], [{ path, text }]);
  const mayAccept = text.length >= base.length * MIN_KEPT_SHARE;
  return { written: { text, diff }, mayAccept, retrySeconds: null };
}

/** Starts the timer of this process for memories that are due. It exits once no model is at work, which would be paid for again. */
export function scheduleConsolidations(app: Needs & Parts<"memoryWorker">): void {
  drain().add((deadline) => app.memoryWorker.untilIdle(deadline));
  const intervalSeconds = config().TASK_INTERVAL_SECONDS;
  runPeriodically("consolidations", intervalSeconds, async () => app.memoryWorker.wake(app));
}
