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
