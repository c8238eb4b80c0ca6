import type { ModelProvider } from "./port.ts";

const MAX_LEARNED = 10_000;

/**
 * The context windows of models in tokens, as their provider lists them, or as a model has named its own. What
 * a model says may quote the request, so it counts only for the account whose request it has rejected.
 */
export class ContextWindows {
  readonly #models: ModelProvider;
  readonly #fallback: number;
  readonly #learned = new Map<string, number>();

  /** @param fallback the window of a model whose own is unknown */
  constructor(models: ModelProvider, fallback: number) {
    this.#models = models;
    this.#fallback = fallback;
  }

  /** Returns the smallest window of the models, any of which may get the request. */
  async of(accountId: string, modelIds: readonly string[]): Promise<number> {
    const listed = await this.#models.list();
    const windows = modelIds.flatMap((modelId) => [
      listed?.find(({ id }) => id === modelId)?.contextWindow ?? this.#fallback,
      this.#learned.get(`${accountId} ${modelId}`) ?? Number.MAX_SAFE_INTEGER,
    ]);
    return Math.min(...windows);
  }

  /** Notes the window of a model that has rejected a request as too long. */
  learn(accountId: string, modelId: string, window: number): void {
    if (this.#learned.size >= MAX_LEARNED) this.#learned.clear();
    this.#learned.set(`${accountId} ${modelId}`, window);
  }
}
