/** Reservations of model calls, which are checked against the budget of the account and the limits of the run. */

import { BudgetRefusal, isBudgetRefusal } from "@platform/agent/models/budget-refusal";
import { budgetReached, unpricedModel } from "@platform/endpoint/contract/quota";
import { limitNames } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type { UsageEntry } from "../running-turn/measure-step.ts";
import { type LimitNote, limitNote, type Reservation } from "../running-turn/state.ts";
import { type LoadedTurnKey, refuseSuperseded } from "../running-turn/turn-key.ts";

const outcomes = ["reserved", "wait", "superseded", "budget_reached", "unpriced_model"] as const;
const outcome = z.enum([...outcomes, ...limitNames]);

/**
 * The model calls of a turn in the process that has loaded it, including its subagents and summaries. One
 * of them may exceed a limit of the run. Calls that could do so together wait for each other.
 */
export class ModelCalls {
  readonly #db: Database;
  readonly #key: LoadedTurnKey;
  readonly #inFlight = new Set<CallReservation>();
  /** The amount that is reserved for attempts that have ended. */
  #endedUsd = 0;
  /** Reservations are made one at a time, and each counts the ones before it. */
  #last: Promise<unknown> = Promise.resolve();
  #change = Promise.withResolvers<void>();

  constructor(db: Database, key: LoadedTurnKey) {
    this.#db = db;
    this.#key = key;
  }

  /** @param signal ends the wait for other calls */
  open(signal: AbortSignal): CallReservation {
    return new CallReservation(this, signal);
  }

  async reserve(
    reservation: CallReservation,
    estimateUsd: number | null,
    spentUsd: number,
  ): Promise<void> {
    this.end(reservation);
    for (;;) {
      const { promise: changed } = this.#change;
      const asked = this.#last.then(() => this.#ask(reservation, estimateUsd, spentUsd));
      this.#last = asked.catch(() => {});
      if (await asked) return;
      const { signal } = reservation;
      signal.throwIfAborted();
      const { promise: aborted, resolve: abort } = Promise.withResolvers<unknown>();
      signal.addEventListener("abort", abort);
      await Promise.race([changed, aborted]);
      signal.removeEventListener("abort", abort);
      signal.throwIfAborted();
    }
  }

  /** Resolves with whether the call may be made now. */
  async #ask(
    reservation: CallReservation,
    estimateUsd: number | null,
    spentUsd: number,
  ): Promise<boolean> {
    const { accountId, turnId, load } = this.#key;
    const others = this.#inFlight.size;
    const endedUsd = this.#endedUsd;
    const args = {
      accountId,
      id: turnId,
      load,
      releasedUsd: others === 0 ? null : endedUsd,
      spentUsd,
      estimateUsd,
      inFlight: others,
    };
    const answer = await call(this.#db, "reserve_call", args, outcome);
    refuseSuperseded(answer === "superseded", turnId);
    const isReserved = answer === "reserved";
    // Another call may have ended in the meantime.
    this.#endedUsd += (isReserved ? 0 : spentUsd) - endedUsd;
    if (isReserved) {
      reservation.usd = spentUsd + (estimateUsd ?? 0);
      this.#inFlight.add(reservation);
    }
    if (isReserved || answer === "wait" || answer === "superseded") return isReserved;
    if (answer === "budget_reached") throw new BudgetRefusal(budgetReached);
    if (answer === "unpriced_model") throw new BudgetRefusal(unpricedModel);
    throw new BudgetRefusal({ code: "limit_reached", message: answer });
  }

  end(reservation: CallReservation): void {
    this.#endedUsd += reservation.take();
    if (!this.#inFlight.delete(reservation)) return;
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

class CallReservation implements Reservation {
  readonly signal: AbortSignal;
  /** The amount that is reserved for the call in flight and the attempts before it. */
  usd = 0;
  failure: unknown;
  readonly #calls: ModelCalls;

  constructor(calls: ModelCalls, signal: AbortSignal) {
    this.#calls = calls;
    this.signal = signal;
  }

  readonly reserve = async (estimateUsd: number | null, spentUsd: number): Promise<void> => {
    await this.#calls.reserve(this, estimateUsd, spentUsd).catch((error: unknown) => {
      if (!isBudgetRefusal(error) && !this.signal.aborted) this.failure = error;
      throw error;
    });
  };

  releaseWith(usage: readonly UsageEntry[]): UsageEntry[] {
    const [first, ...others] = usage;
    return first ? [{ ...first, reserved_usd: this.take() }, ...others] : [];
  }

  /** Returns the amount that is reserved, and forgets it. */
  take(): number {
    const taken = this.usd;
    this.usd = 0;
    return taken;
  }

  end(): void {
    this.#calls.end(this);
  }
}

/**
 * Returns the note for the model, which is recorded once for a turn as soon as three quarters of a limit are used;
 * null before.
 * @param step the index of the step that is about to start
 */
export async function recordLimitNote(
  db: Database,
  { accountId, turnId, load }: LoadedTurnKey,
  step: number,
): Promise<LimitNote | null> {
  const { superseded, note } = await call(
    db,
    "note_limit",
    { accountId, turnId, load, step },
    z.object({ superseded: z.boolean(), note: limitNote.nullish() }),
  );
  refuseSuperseded(superseded, turnId);
  return note ?? null;
}
