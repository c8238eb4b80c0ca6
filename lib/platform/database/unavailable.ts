import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { isOutage } from "../../../packages/world-postgres/src/outage.ts";
import type { Answer } from "./port.ts";

const MAX_OUTAGE_MS = 10_000;
const RETRY_MS = 500;

/** Repeats a call through an outage of some seconds. For results that no one can produce again. */
export async function throughOutage<T>(call: () => Promise<T>): Promise<T> {
  for (const began = performance.now(); ; await delay(RETRY_MS)) {
    try {
      return await call();
    } catch (error) {
      const isOver = performance.now() - began > MAX_OUTAGE_MS;
      if (isOver || !isDatabaseUnavailable(error)) throw error;
    }
  }
}

/** A gateway before the REST API: a refused key, a project that is paused or restricted, too many requests. */
const GATEWAY_REFUSALS = [401, 402, 403, 408, 429];

/** Returns whether the connection failed, a gateway refused or failed, or PostgreSQL had an outage. */
export function isUnavailable({ error, status }: Pick<Answer, "error" | "status">): boolean {
  if (error === null) return false;
  const { code = "" } = error;
  if (status === 0 || isOutage(error) || /^PGRST00[0-3]$/.test(code)) return true;
  if (GATEWAY_REFUSALS.includes(status)) return code !== "42501";
  return status >= 500 && !/^([0-9A-Z]{5}|PGRST\d+)$/.test(code);
}
