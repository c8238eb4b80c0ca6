import type { Pool } from "pg";

/** Takes the measurements of the engine. */
export interface Measurements {
  count(
    name: "processes.fenced" | "runs.adopted" | "runs.freed" | "runs.handed_over",
    amount: number,
  ): void;
  /** Reads a value whenever metrics are exported, for the life of the process. */
  observe(name: "database.size" | "inbox.age", read: () => Promise<number>): void;
  /** Observes the pool for the life of the process. */
  observePool(pool: Pool): void;
}

export const noMeasurements: Measurements = {
  count: () => {},
  observe: () => {},
  observePool: () => {},
};
