/**
 * The newest migration, by the number in its file's name: what this version of the code needs of the
 * database. `npm run check` holds it equal to the newest file in `supabase/migrations`.
 */
export const SCHEMA_VERSION = "20261124000000";
