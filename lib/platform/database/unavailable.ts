/**
 * The database did not answer, or reported an outage. It is thrown, because no use case can handle it,
 * and the pipeline turns it into a 503; it never becomes a 401, a 404 or an empty list.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
  readonly code = "DATABASE_UNAVAILABLE";
}

/** Compares the code, because the engine and the bundle of its steps have separate copies of the class. */
export function isDatabaseUnavailable(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "DATABASE_UNAVAILABLE";
}

/** Returns whether there was no connection, a gateway's 5xx, a refused key or an outage's SQLSTATE. */
export function isOutage(code: string, status: number): boolean {
  // SQLSTATEs of connections, deadlocks, resources and shutdowns; PostgREST without a connection.
  if (/^(?:08|40|53|57|PGRST00[0-3]$)/.test(code)) return true;
  if (status === 401 || status === 403) return code !== "42501";
  return status === 0 || (status >= 500 && !/^([0-9A-Z]{5}|PGRST\d+)$/.test(code));
}
