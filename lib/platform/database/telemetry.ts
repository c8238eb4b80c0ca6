import type pg from "pg";
import { observe } from "../telemetry/metrics.ts";
import type { SpanOptions } from "../telemetry/spans.ts";

/** @param operation the name of a SQL function or of a table */
export const sqlSpan = (operation: string): SpanOptions => ({
  kind: "client",
  attributes: { "db.system.name": "postgresql", "db.operation.name": operation },
});

/** Observes a pool of connections, for the life of the process. */
export function observePool(name: "engine" | "functions", pool: pg.Pool): void {
  const labels = { "db.client.connection.pool.name": name };
  const idle = { ...labels, "db.client.connection.state": "idle" };
  const used = { ...labels, "db.client.connection.state": "used" };
  observe("db.client.connection.count", () => pool.idleCount, idle);
  observe("db.client.connection.count", () => pool.totalCount - pool.idleCount, used);
  observe("db.client.connection.max", () => pool.options.max ?? 0, labels);
  observe("db.client.connection.pending_requests", () => pool.waitingCount, labels);
}
