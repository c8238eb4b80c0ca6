/**
 * The database did not answer, or answered that it cannot. Thrown, not returned: no use case can
 * do anything about it, and the route wrapper turns it into 503. It is never a 401, a 404 or an
 * empty list.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}
