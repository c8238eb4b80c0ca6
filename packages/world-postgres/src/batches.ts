/**
 * Shares statements under load: one write is in flight at a time, and carries everything that was asked for
 * during the one before it.
 */
export class Batches<T, R> {
  readonly #write: (items: readonly T[]) => Promise<readonly R[]>;
  #waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = [];
  #writing = false;

  /** @param write resolves with a result for each item, in their order; if it rejects, all of them do */
  constructor(write: (items: readonly T[]) => Promise<readonly R[]>) {
    this.#write = write;
  }

  add(item: T): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#writing) void this.#writeAll();
    return promise;
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        const results = await this.#write(batch.map(({ item }) => item));
        for (const [place, { resolve }] of batch.entries()) resolve(results[place] as R);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = false;
  }
}
