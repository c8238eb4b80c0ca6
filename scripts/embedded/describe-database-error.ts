import { z } from "zod";
import { isOutage, isSqlState } from "../../packages/world-postgres/src/outage.ts";

const databaseErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  detail: z.string().nullish(),
  hint: z.string().nullish(),
  severity: z.string().optional(),
  table_name: z.string().optional(),
  constraint_name: z.string().optional(),
  routine: z.string().optional(),
});

/** A database error in the form that the REST server passes on verbatim (`raise sqlstate 'PGRST'`). */
class DescribedError extends Error {
  readonly code = "PGRST";
  readonly detail: string;
  /** For the log: without the message, the detail and the query, which quote users' data. */
  readonly summary: string;
  readonly status: number;

  constructor(status: number, body: Record<string, unknown>, summary: string) {
    super(JSON.stringify(body));
    this.status = status;
    this.detail = JSON.stringify({ status, headers: {} });
    this.summary = summary;
  }
}

/**
 * Maps every SQLSTATE to the status that PostgREST uses. The REST server maps only some of them and
 * answers 500 with its own code for the rest. A database that cannot be reached is 503.
 */
export function describeDatabaseError(error: unknown): unknown {
  const parsed = databaseErrorSchema.safeParse(error);
  if (!parsed.success || parsed.data.code === "PGRST") return error;
  const { code, message, detail, hint } = parsed.data;
  const where = [parsed.data.table_name, parsed.data.constraint_name, parsed.data.routine];
  const summary = [code, ...where.filter((word) => word !== undefined)].join(" ");
  const isFatal = parsed.data.severity === "FATAL" && statusOf(code) !== 503;
  if (!isSqlState(code) || isFatal) {
    const body = { code: "PGRST001", message: "Database client error", details: null, hint: null };
    return new DescribedError(503, body, summary);
  }
  const status = statusOf(code);
  if (status === undefined)
    return Object.assign(new Error(message), { code, detail, hint, summary });
  const body = { code, message, details: detail ?? null, hint: hint ?? null };
  return new DescribedError(status, body, summary);
}

/**
 * Returns whether the connection is lost: by an error of the driver or by PostgreSQL, or because it leads to a server
 * that has become read-only, and a new one may lead to its successor.
 */
export function isConnectionLoss(error: unknown): boolean {
  const { data } = databaseErrorSchema.safeParse(error);
  if (!data) return false;
  return !isSqlState(data.code) || /^(08|57P|25006)/.test(data.code) || data.severity === "FATAL";
}

/** Returns whether the database cannot execute statements at present. */
export function isDatabaseOutage(error: unknown): boolean {
  const { data } = databaseErrorSchema.safeParse(error);
  return data !== undefined && (isConnectionLoss(error) || isOutage(data));
}

/**
 * Returns the seconds before a lost connection is reopened. The driver's default grows to 20 s, during
 * which callers would hang; on loopback, frequent attempts cost nothing.
 */
export const reconnectDelay = () => 0.05;

/** Returns undefined where the REST server already answers like PostgREST, depending on the caller. */
function statusOf(sqlState: string): number | undefined {
  const raised = /^PT(\d{3})$/.exec(sqlState)?.[1];
  if (raised !== undefined) {
    const status = Number(raised);
    return status >= 200 && status <= 599 ? status : 500;
  }
  if (["42501", "42883", "42P01", "42703"].includes(sqlState)) return undefined;
  const exact: Record<string, number> = {
    "23503": 409,
    "23505": 409,
    "25006": 405,
    "42P17": 500,
    // PostgreSQL is shutting down or starting.
    "57P01": 503,
    "57P02": 503,
    "57P03": 503,
    P0001: 400,
  };
  const byClass: Record<string, number> = {
    "08": 503,
    "09": 500,
    "0L": 403,
    "0P": 403,
    "25": 500,
    "28": 403,
    "2D": 500,
    "38": 500,
    "39": 500,
    "3B": 500,
    "40": 500,
    "53": 503,
    "54": 413,
    "55": 500,
    "57": 500,
    "58": 500,
    F0: 500,
    HV: 500,
    P0: 500,
    XX: 500,
  };
  return exact[sqlState] ?? byClass[sqlState.slice(0, 2)] ?? 400;
}
