/** The steps in progress of this process that are to learn of a stop, by the id of their turn. */
export class StopListeners {
  readonly #turns = new Map<string, Set<() => void>>();

  /** How many turns have a step in progress here. */
  get size(): number {
    return this.#turns.size;
  }

  turnIds(): string[] {
    return [...this.#turns.keys()];
  }

  /** Calls `stop` at each call of `signal`, until the returned function is called. */
  listen(turnId: string, stop: () => void): () => void {
    const stops = this.#turns.get(turnId) ?? new Set();
    this.#turns.set(turnId, stops.add(stop));
    return () => {
      stops.delete(stop);
      if (stops.size === 0 && this.#turns.get(turnId) === stops) this.#turns.delete(turnId);
    };
  }

  /** Returns whether anything listens for the turn. */
  signal(turnId: string): boolean {
    const stops = this.#turns.get(turnId);
    for (const stop of stops ?? []) stop();
    return stops !== undefined;
  }
}
