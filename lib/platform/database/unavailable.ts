/**
 * The database did not answer, or answered that it cannot. Thrown, not returned: no use case can
 * do anything about it, and the route wrapper turns it into 503. It is never a 401, a 404 or an
 * empty list.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

/** By name: the durable engine throws it from another bundle, where the class is another one. */
export function isDatabaseUnavailable(error: unknown): error is DatabaseUnavailable {
  return error instanceof Error && error.name === "DatabaseUnavailable";
}

/** SQLSTATE classes of an outage: no connection, a lost deadlock, out of resources, shut down. */
export const isOutageCode = (code: string): boolean => /^(08|40|53|57)/.test(code);
