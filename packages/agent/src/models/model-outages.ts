import type { RunOptions } from "@platform/endpoint/contract/run-options";
import type { ModelProvider } from "./port.ts";

/** Calls in a row that must fail before a model is skipped. Each has repeated its request. */
const MAX_FAILED_CALLS = 2;
const SKIP_MS = 30_000;
/** More models than any installation has. */
const MAX_MODELS = 1_000;

/** Returns the ids of the models that may answer a turn, in the order in which they are called. */
export function modelsOf(
  { fallbackModelIds }: Pick<ModelProvider, "fallbackModelIds">,
  { model_id, options }: { readonly model_id: string; readonly options: RunOptions },
): [string, ...string[]] {
  const fallbacks = options.fallback_models ?? fallbackModelIds ?? [];
  return [model_id, ...new Set(fallbacks.filter((id) => id !== model_id))];
}

/** Requests in a row that a model may reject for their size before it is taken for broken. */
const MAX_SUSPICIONS = 2;

/**
 * The models that keep failing in this process, and the largest requests that they have answered. A model that fails
 * is skipped for 30 seconds, and then tried again.
 */
export class ModelOutages {
  readonly #now: () => number;
  readonly #models = new Map<string, { failedCalls: number; skippedUntil: number }>();

  readonly #sizes = new Map<string, { largest: number; suspicions: number }>();

  /** @param now the clock in milliseconds, for tests */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns the models without the ones that are skipped, or all of them if none is left. */
  available([first, ...rest]: [string, ...string[]]): [string, ...string[]] {
    const now = this.#now();
    const isAvailable = (id: string) => (this.#models.get(id)?.skippedUntil ?? now) <= now;
    const [head, ...tail] = [first, ...rest].filter(isAvailable);
    return head === undefined ? [first, ...rest] : [head, ...tail];
  }

  /** Notes that a call of the model has failed. */
  recordFailure(id: string): void {
    const failedCalls = (this.#models.get(id)?.failedCalls ?? 0) + 1;
    const isSkipped = failedCalls >= MAX_FAILED_CALLS;
    if (this.#models.size >= MAX_MODELS) this.#models.clear();
    this.#models.set(id, { failedCalls, skippedUntil: isSkipped ? this.#now() + SKIP_MS : 0 });
  }

  /** Notes that the model has answered. */
  recordAnswer(id: string): void {
    this.#models.delete(id);
  }

  /** Notes that the model has answered a request of so many tokens. */
  recordSize(id: string, tokens: number): void {
    if (this.#sizes.size >= MAX_MODELS) this.#sizes.clear();
    this.#sizes.set(id, { largest: Math.max(tokens, this.largestAnswered(id)), suspicions: 0 });
  }

  /** Returns the tokens of the largest request that the model has answered; 0 if there is none. */
  largestAnswered(id: string): number {
    return this.#sizes.get(id)?.largest ?? 0;
  }

  /**
   * Returns whether the size of a request may be why the model has rejected it: it is larger than all that were
   * answered, and the model has not rejected others in the meantime.
   */
  suspectSize(id: string, tokens: number): boolean {
    const { largest, suspicions } = this.#sizes.get(id) ?? { largest: 0, suspicions: 0 };
    if (tokens <= largest || suspicions >= MAX_SUSPICIONS) return false;
    this.#sizes.set(id, { largest, suspicions: suspicions + 1 });
    return true;
  }
}
