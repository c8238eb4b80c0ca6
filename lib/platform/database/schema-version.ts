/** The version that a new database records for the schema of `supabase/schemas`. */
export const BASELINE_VERSION = "20261129000000";

/**
 * The version of the database that this code needs: the newest file in `supabase/migrations`, or the baseline.
 * `npm run check` compares them.
 */
export const SCHEMA_VERSION = "20261129000000";

/** The newest migration before the baseline. Only a database with this version is upgraded to the baseline. */
export const REPLACED_VERSION = "20261213080100";
