/** Requests to one service with one credential. */

export interface ConnectionOptions {
  /** The service's origin, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** An API key. At most one of `apiKey` and `bearer`. */
  readonly apiKey?: string | undefined;
  /** A bearer token, or a function that returns the current one for each request. */
  readonly bearer?: string | (() => string | Promise<string>) | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** For how long `streamTurn` and `waitForRun` go on without an answer. Default: five minutes. */
  readonly retryForMs?: number | undefined;
  /** Called before each repetition of a request of theirs, and when a stream breaks; `attempt` counts from 1. */
  readonly onRetry?: ((attempt: number) => void) | undefined;
  /** Resolves when a request should be repeated, and rejects on abort. Default: an exponential delay. */
  readonly waitForRetry?: ((attempt: number, signal: AbortSignal) => Promise<void>) | undefined;
}

export interface Connection {
  /**
   * Sends a request once, with `prefer: handling=strict` unless it has such a header.
   * @throws TypeError without a response
   */
  send(request: Request): Promise<Response>;
  onRetry(attempt: number): void;
  /**
   * Repeats a request that may be repeated, until it has a final response.
   * @throws the last attempt's error after `retryForMs`; the signal's reason when it aborts
   */
  repeat(path: string, init: RequestInit, signal: AbortSignal): Promise<Response>;
}

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

export function createConnection(options: ConnectionOptions): Connection {
  const { baseUrl, apiKey, bearer, retryForMs = 300_000 } = options;
  const onRetry = options.onRetry ?? (() => {});
  if (apiKey !== undefined && bearer !== undefined) {
    throw new TypeError("At most one of apiKey and bearer can be given");
  }
  const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));

  const send: Connection["send"] = async (request) => {
    // The service then refuses a field that it does not know, which it could otherwise ignore.
    if (!request.headers.has("prefer")) request.headers.set("prefer", "handling=strict");
    if (apiKey !== undefined) request.headers.set("x-api-key", apiKey);
    if (bearer !== undefined) {
      const token = typeof bearer === "string" ? bearer : await bearer();
      request.headers.set("authorization", `Bearer ${token}`);
    }
    return fetch(request);
  };

  const repeat: Connection["repeat"] = async (path, init, signal) => {
    const giveUpAt = Date.now() + retryForMs;
    for (let attempt = 1; ; attempt++) {
      const isLast = Date.now() >= giveUpAt;
      const request = new Request(new URL(path, baseUrl), { ...init, signal });
      const response = await send(request).catch((error: unknown) => {
        if (isLast) throw error;
        return ignoreNetworkError(error, signal);
      });
      if (response && (isLast || !isTransient(response, request.method))) return response;
      await response?.body?.cancel();
      onRetry(attempt);
      const waiting = options.waitForRetry?.(attempt, signal);
      await (waiting ?? delay(delayBefore(attempt, response), signal));
    }
  };
  return { send, repeat, onRetry };
}

/**
 * Returns true for the responses of a proxy while the server restarts, and of the server while its
 * database is unavailable or an earlier attempt runs. An error about a failed provider is final.
 */
function isTransient({ status, headers }: Response, method: string): boolean {
  // Reading waits until the rate limit allows it; sending reports the refusal.
  if (status === 429) return method === "GET";
  const code = headers.get("x-error-code");
  if (code === "idempotency_in_progress") return true;
  return status >= 502 && status <= 504 && (code === null || code === "unavailable");
}

/** Ignores a failed connection. Rethrows an abort, and anything else because it is a bug. */
export function ignoreNetworkError(error: unknown, signal: AbortSignal): undefined {
  const isNetwork = error instanceof TypeError || error instanceof DOMException;
  if (signal.aborted || !isNetwork) throw error;
}

/** Exponential with jitter, to spread the clients, and not before `retry-after`. */
function delayBefore(attempt: number, response: Response | undefined): number {
  const own = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.max(own * (0.5 + Math.random() / 2), retryAfterMs(response));
}

/** Returns the value of `retry-after` in milliseconds, 0 without one. */
export const retryAfterMs = (response: Response | undefined): number =>
  Number(response?.headers.get("retry-after") ?? 0) * 1_000 || 0;

/** @throws the signal's reason when it aborts */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
