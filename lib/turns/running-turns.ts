import { observe } from "@platform/kit/telemetry/metrics";
import type { ModelCall } from "../running-turn/model-call.ts";
import type { TurnState } from "../running-turn/state.ts";
import type { RunningTurn } from "../running-turn/step.ts";

/** A turn as its claim has returned it, for its first step. */
export interface ClaimedTurn {
  readonly turn: TurnState;
  /** Its first model call, if that has started before the step. */
  readonly call: ModelCall | undefined;
}

/** The next step follows within seconds, unless another process executes it. */
const MAX_PAUSE_MS = 60_000;

/**
 * Turns between two of their steps, and between their claim and their first step, so only a process that takes a
 * turn over loads it. A turn that this process does not continue within a minute is dropped.
 */
export class RunningTurns {
  /** Turns by their run, because a turn can have been started twice. */
  readonly #turns = new Map<string, { turn: RunningTurn; expiry: NodeJS.Timeout }>();
  readonly #claimed = new Map<string, { turn: ClaimedTurn; expiry: NodeJS.Timeout }>();
  #inStep = 0;

  constructor() {
    observe("agent_platform.turns.active", () => this.#inStep + this.size);
  }

  get size(): number {
    return this.#turns.size;
  }

  /** Counts a turn while `work`, one of its steps, is running. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#inStep++;
    try {
      return await work();
    } finally {
      this.#inStep--;
    }
  }

  keep(runId: string, turn: RunningTurn): void {
    this.take(runId);
    const expiry = setTimeout(() => this.#turns.delete(runId), MAX_PAUSE_MS).unref();
    this.#turns.set(runId, { turn, expiry });
  }

  /** Keeps a turn until its first step takes it. After a minute its call is cancelled. */
  keepClaimed(turnId: string, turn: ClaimedTurn): void {
    const drop = () => this.takeClaimed(turnId)?.call?.cancel();
    const expiry = setTimeout(drop, MAX_PAUSE_MS).unref();
    this.#claimed.set(turnId, { turn, expiry });
  }

  takeClaimed(turnId: string): ClaimedTurn | undefined {
    const kept = this.#claimed.get(turnId);
    clearTimeout(kept?.expiry);
    this.#claimed.delete(turnId);
    return kept?.turn;
  }

  /** Removes and returns the turn. A step that fails therefore leaves nothing stale behind. */
  take(runId: string): RunningTurn | undefined {
    const kept = this.#turns.get(runId);
    clearTimeout(kept?.expiry);
    this.#turns.delete(runId);
    return kept?.turn;
  }
}
