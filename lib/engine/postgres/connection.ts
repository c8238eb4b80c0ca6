import postgres, { type Sql } from "postgres";

/** The engine's pool. Its statements are short and prepared; ten connections carry hundreds of runs. */
export function connect(databaseUrl: string): Sql {
  return postgres(databaseUrl, { max: 10, onnotice: () => {} });
}
