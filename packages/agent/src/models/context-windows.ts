import type { ModelProvider } from "./port.ts";

const MAX_LEARNED = 10_000;
const LEARNED_MS = 24 * 60 * 60_000;

/**
 * The context windows of models in tokens, from the provider's list or from a model's own error. An error
 * may quote the request, so it counts only for the account whose request was rejected, and for a day.
 */
export class ContextWindows {
  readonly #models: ModelProvider;
  readonly #fallback: number;
  readonly #learned = new Map<string, { window: number; until: number }>();
  readonly #now: () => number;

  /**
   * @param fallback the window of a model whose own is unknown
   * @param now the clock in milliseconds, for tests
   */
  constructor(
    models: ModelProvider,
    fallback: number,
    now: () => number = () => performance.now(),
  ) {
    this.#now = now;
    this.#models = models;
    this.#fallback = fallback;
  }

  /** Returns the smallest window of the models, any of which may get the request. */
  async of(accountId: string, modelIds: readonly string[]): Promise<number> {
    const listed = await this.#models.list();
    const windows = modelIds.flatMap((modelId) => [
      listed?.find(({ id }) => id === modelId)?.contextWindow ?? this.#fallback,
      this.#learnedWindow(`${accountId} ${modelId}`) ?? Number.MAX_SAFE_INTEGER,
    ]);
    return Math.min(...windows);
  }

  /** Notes the window of a model that has rejected a request as too long. */
  learn(accountId: string, modelId: string, window: number): void {
    if (this.#learned.size >= MAX_LEARNED) this.#learned.clear();
    this.#learned.set(`${accountId} ${modelId}`, { window, until: this.#now() + LEARNED_MS });
  }

  #learnedWindow(key: string): number | undefined {
    const learned = this.#learned.get(key);
    return learned && learned.until > this.#now() ? learned.window : undefined;
  }
}
