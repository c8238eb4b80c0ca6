import type { StepResult } from "../agent/step-result.ts";
import type { TurnLog } from "../engine/port.ts";
import { observe } from "../platform/telemetry/metrics.ts";
import type { ModelCall } from "./model-call.ts";
import type { ActiveTurn, KnownCall } from "./store/turns.ts";
import type { WorkspaceUse } from "./turn-workspace.ts";

/** The state of a turn for its next step. */
export interface RunningTurn {
  readonly turn: ActiveTurn;
  /** The results of the steps that are committed. */
  readonly steps: readonly StepResult[];
  readonly log: TurnLog;
  /** Whether the turn was loaded, and the next step may have started before. */
  readonly mayRepeat?: boolean;
  /** How this load of the turn has used the workspace. Default: none. */
  readonly workspaceUse?: WorkspaceUse | undefined;
  /** The model call of the next step, where it has started before the step. */
  readonly call?: ModelCall;
  /**
   * The tool calls of the last step were recorded as started together with it, so they must run in this
   * durable step. Contains the calls that had been recorded before.
   */
  readonly knownCalls?: readonly KnownCall[];
}

/** The next step follows within seconds, unless another process executes it. */
const MAX_PAUSE_MS = 60_000;

/**
 * Turns between two of their steps, so only a turn's first step in a process loads it. A turn that this
 * process does not continue within a minute is dropped.
 */
export class RunningTurns {
  readonly #turns = new Map<string, { turn: RunningTurn; expiry: NodeJS.Timeout }>();
  readonly #firstCalls = new Map<string, { call: ModelCall; expiry: NodeJS.Timeout }>();
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

  keep(turnId: string, turn: RunningTurn): void {
    this.take(turnId);
    const expiry = setTimeout(() => this.#turns.delete(turnId), MAX_PAUSE_MS).unref();
    this.#turns.set(turnId, { turn, expiry });
  }

  /** Keeps the first model call of a turn until its first step takes it, or cancels it after a minute. */
  keepFirstCall(turnId: string, call: ModelCall): void {
    const expiry = setTimeout(() => this.takeFirstCall(turnId)?.cancel(), MAX_PAUSE_MS).unref();
    this.#firstCalls.set(turnId, { call, expiry });
  }

  takeFirstCall(turnId: string): ModelCall | undefined {
    const kept = this.#firstCalls.get(turnId);
    clearTimeout(kept?.expiry);
    this.#firstCalls.delete(turnId);
    return kept?.call;
  }

  /** Removes and returns the turn. A step that fails therefore leaves nothing stale behind. */
  take(turnId: string): RunningTurn | undefined {
    const kept = this.#turns.get(turnId);
    clearTimeout(kept?.expiry);
    this.#turns.delete(turnId);
    return kept?.turn;
  }
}
