/** Gives an untitled chat a title after its first answer, in place of the start of its first message. */

import { factsLine } from "@platform/agent/facts";
import { BudgetRefusal } from "@platform/agent/models/budget-refusal";
import { EMBEDDED_MODEL_ID } from "@platform/agent/models/embedded-identity";
import { writeTitle } from "@platform/agent/write-title";
import { drain } from "@platform/kit/drain";
import { log } from "@platform/kit/log";
import { changedChat } from "../context/store.ts";
import { hasAiModel } from "../models/has-ai-model.ts";
import { requestOf } from "../outcome/judge-turn.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { call } from "../platform/database/query.ts";
import { measureCalls, type UsageEntry } from "../running-turn/measure-step.ts";
import { answeringModels, type ModelCallParts } from "../running-turn/model-call.ts";
import type { TurnState } from "../running-turn/state.ts";
import { reserveJobCall } from "../running-turn/store.ts";
import { titleOf } from "./read-messages.ts";

const DEADLINE_MS = 15_000;
/** Longer than the deadline, so only the lease of a process that has died ends by itself. */
const LEASE_SECONDS = 60;
/** The `tool` of its calls in usage entries, below the numbers of judges. */
const TITLE_CALLS = -2_000;

/**
 * Writes the title of the chat whose first turn has ended. Made once at most: a process that dies leaves the start of
 * the message. Never throws.
 */
export async function titleChat(
  app: ModelCallParts & Parts<"db">,
  turnId: string,
  turn: TurnState,
  answer: string,
): Promise<void> {
  if (turn.headless || turn.history.length !== 1 || drain().hasBegun) return;
  try {
    const model_id = await titleModel(app);
    if (model_id !== null) await write(app, turnId, { ...turn, model_id, options: {} }, answer);
  } catch (error) {
    log().warn({ err: error, turnId }, "a chat got no title");
  }
}

async function write(
  app: ModelCallParts & Parts<"db">,
  turnId: string,
  turn: TurnState,
  answer: string,
): Promise<void> {
  const former = titleOf(turn.history);
  const { account_id: accountId, chat_id: chatId } = turn;
  const key = { accountId, chatId, turnId };
  const begin = { ...key, title: former, leaseSeconds: LEASE_SECONDS };
  if (!(await call(app.db, "begin_title", begin))) return;
  const usage: UsageEntry[] = [];
  const reserve = async (estimateUsd: number | null): Promise<void> => {
    const job = { accountId, id: turnId };
    const refusal = await reserveJobCall(app.db, job, estimateUsd, changedChat);
    if (refusal) throw new BudgetRefusal(refusal);
  };
  const measure = measureCalls(app, { step: 0, tool: TITLE_CALLS, call: 0 }, reserve, usage);
  const models = answeringModels(app, turnId, turn, measure);
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const first = { message: requestOf(turn), answer, facts: factsLine(turn.facts) };
  const written = await writeTitle(models, first, signal).catch((failure: unknown) => ({
    failure,
  }));
  await measure.ended();
  const title = "failure" in written ? "" : written.title;
  await call(app.db, "end_title", { ...key, former, title, usage });
}

/** Returns the model that is fast, or else the least expensive one that the operator offers; null without a price. */
async function titleModel({ models }: Parts<"models">): Promise<string | null> {
  const { FAST_MODEL, MODELS } = config();
  if (!hasAiModel()) return null;
  if (FAST_MODEL) return FAST_MODEL;
  const priced = await Promise.all(
    MODELS.filter((id) => id !== EMBEDDED_MODEL_ID).map(async (id) => {
      const { input, output } = (await models.price(id)) ?? {};
      return { id, price: input === undefined || output === undefined ? null : input + output };
    }),
  );
  const [cheapest] = priced
    .filter(({ price }) => price !== null)
    .sort((one, other) => Number(one.price) - Number(other.price));
  return cheapest?.id ?? null;
}
