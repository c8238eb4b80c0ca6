/**
 * The newest migration, by the number in its file's name: the version of the database that this code
 * needs. `npm run check` holds it equal to the newest file in `supabase/migrations`.
 */
export const SCHEMA_VERSION = "20261213080100";
