/** How a line of the table (table.ts) is asked. */
import type { Person } from "../support/harness/clients.ts";

/** Ids of the owner's things, under the names that path, query and body use. */
export type Ids = Readonly<Record<string, string>>;

/** Where the turn takes place whose credentials the table has. */
export interface RunPlace {
  readonly sessionId: string;
}

export interface Row {
  /** Makes a new thing of the owner and gives its ids; `{}` where the request names none. */
  readonly arrange: (owner: Person, run: RunPlace) => Promise<Ids>;
  readonly query?: (ids: Ids) => Record<string, string>;
  /** The sentence of a missing thing, for an endpoint that is not in the table. */
  readonly missing?: string;
  /** A body that the owner's own request succeeds with. */
  readonly body?: (ids: Ids) => Record<string, unknown>;
}
