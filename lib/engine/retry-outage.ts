import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { RetryableError } from "workflow";

/** With twenty attempts, long enough to outlast an outage of several minutes. */
const MAX_RETRY_DELAY_MS = 15_000;

/**
 * Runs the work of a durable step. When it meets a database outage, the step is retried after 1, 2, 4, …
 * seconds, at most 15.
 * @param attempt the attempt of the step, which counts from 1
 * @throws RetryableError instead of DatabaseUnavailable, and the work's other errors
 */
export async function retryOutage<T>(attempt: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    const retryAfter = Math.min(1_000 * 2 ** (attempt - 1), MAX_RETRY_DELAY_MS);
    throw new RetryableError(error.message, { retryAfter });
  }
}
