import { continueTrace } from "@platform/kit/telemetry/spans";
import type { TurnStops } from "../../port.ts";
import { StopListeners } from "../stop-listeners.ts";

/** A stop that another process requests is found at this interval. */
const POLL_MS = 250;
/** While the database does not answer. */
const RETRY_MS = 2_000;

/**
 * Stop requests for the turns that this process executes. Those made in this process arrive at once;
 * the others are found in the database, with one query for all turns, and none while no turn runs.
 */
export class StopSignals {
  readonly #listeners = new StopListeners();
  readonly #findStopped: TurnStops["findStopped"];
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(findStopped: TurnStops["findStopped"], onError: (error: unknown) => void) {
    this.#findStopped = findStopped;
    this.#onError = onError;
  }

  /** How many turns have a step in progress here. */
  get size(): number {
    return this.#listeners.size;
  }

  /** Calls `stop` when a stop is requested, perhaps more than once, until the returned call. */
  listen(turnId: string, stop: () => void): () => void {
    // The polls outlive the step that starts them, so they must not belong to its trace.
    this.#timer ??= continueTrace(undefined, () => setTimeout(() => this.#poll(), POLL_MS));
    return this.#listeners.listen(turnId, stop);
  }

  signal(turnId: string): void {
    this.#listeners.signal(turnId);
  }

  async #poll(): Promise<void> {
    let pauseMs = POLL_MS;
    try {
      for (const turnId of await this.#findStopped(this.#listeners.turnIds())) this.signal(turnId);
    } catch (error) {
      this.#onError(error);
      pauseMs = RETRY_MS;
    }
    this.#timer = this.size > 0 ? setTimeout(() => this.#poll(), pauseMs) : undefined;
  }
}
