import type { ReachedDatabase } from "./reach-database.ts";

/** How a person started a program. */
export interface Command {
  /** The command in front of the arguments, such as `npm run key --`. */
  readonly name: string;
  /** Connects to the database where no Supabase project is configured. */
  reachDatabase(): Promise<ReachedDatabase>;
}
