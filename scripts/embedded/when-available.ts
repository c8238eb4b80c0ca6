import { setTimeout as delay } from "node:timers/promises";
import { describeRefusal } from "../../packages/world-postgres/src/outage.ts";
import { isDatabaseOutage } from "./describe-database-error.ts";

const RETRY_MS = 1_000;

/**
 * Repeats `work` while the database is down, read-only or full, and prints the reason for which it waits.
 * @throws every other error: a refused login or an unknown host only an operator can change
 */
export async function whenAvailable<T>(work: () => Promise<T>): Promise<T> {
  for (let printed = ""; ; await delay(RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const { message } = error;
      if (message !== printed) console.error(`Not ready, waiting for the database: ${message}`);
      printed = message;
    }
  }
}

function isPassing(error: unknown): error is Error {
  for (
    let at = error;
    typeof at === "object" && at !== null;
    at = "cause" in at ? at.cause : null
  ) {
    if (isDatabaseOutage(at)) {
      return !describeRefusal(at) && !("code" in at && at.code === "ENOTFOUND");
    }
  }
  return false;
}
