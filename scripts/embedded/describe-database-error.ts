import { z } from "zod";

const databaseErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  detail: z.string().nullish(),
  hint: z.string().nullish(),
  table_name: z.string().optional(),
  constraint_name: z.string().optional(),
  routine: z.string().optional(),
});

/** A database error in the form that the REST server passes on word for word (`raise sqlstate 'PGRST'`). */
export class DescribedError extends Error {
  readonly code = "PGRST";
  readonly detail: string;
  /** What may stand in a log: no message, detail or query, because those quote what people wrote. */
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
 * Gives every SQLSTATE the status PostgREST gives it. The REST server knows some itself and answers
 * the rest with 500 and a code of its own. A database that cannot be reached is 503.
 */
export function describeDatabaseError(error: unknown): unknown {
  const parsed = databaseErrorSchema.safeParse(error);
  if (!parsed.success || parsed.data.code === "PGRST") return error;
  const { code, message, detail, hint } = parsed.data;
  const where = [parsed.data.table_name, parsed.data.constraint_name, parsed.data.routine];
  const summary = [code, ...where.filter((word) => word !== undefined)].join(" ");
  if (!isSqlState(code)) {
    const body = { code: "PGRST001", message: "Database client error", details: null, hint: null };
    return new DescribedError(503, body, summary);
  }
  const status = statusOf(code);
  if (status === undefined)
    return Object.assign(new Error(message), { code, detail, hint, summary });
  const body = { code, message, details: detail ?? null, hint: hint ?? null };
  return new DescribedError(status, body, summary);
}

/** Whether the connection is gone: an error of the driver, or PostgreSQL on its way out. */
export function isConnectionLoss(error: unknown): boolean {
  const parsed = databaseErrorSchema.safeParse(error);
  return parsed.success && !(isSqlState(parsed.data.code) && !/^(08|57P)/.test(parsed.data.code));
}

/**
 * Seconds before a lost connection is opened anew. The driver's own wait grows to 20 s, in which
 * callers would hang; a refusal by loopback costs nothing.
 */
export const reconnectDelay = () => 0.05;

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code);
}

/** @returns undefined where the REST server's own answer is PostgREST's, which depends on the caller. */
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
    // The server shuts down or starts.
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
