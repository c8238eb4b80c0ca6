/**
 * The one list of errors with which PostgreSQL, or a pooler in front of it, reports that it cannot execute a statement
 * at present and later can: the caller repeats the call.
 */

/** The fields of an error of PostgreSQL as drivers and PostgREST name them. */
export interface Reported {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly severity?: unknown;
}

/** Connections (with nearly all errors of PgBouncer itself), logins, transactions to repeat, resources, shutdowns, files. */
const CLASSES = /^(?:08|28|40|53|57|58)/;
const STATES: readonly unknown[] = [
  "25006", // read-only: a standby, or a setting
  "25P03", // ended by idle_in_transaction_session_timeout
  "25P04", // ended by transaction_timeout
  "3D000", // a database that is just being replaced
  "55P03", // lock_timeout
];
/** SQLSTATEs that may also be defects, each with the messages of an outage. */
const WORDINGS: Readonly<Record<string, RegExp>> = {
  // An unlogged table on a standby.
  "0A000": /during recovery/,
  // A file system that has become read-only.
  "42501": /^could not \w+ (?:file|directory|relation)/,
  "55000": /recovery is in progress|during recovery|not currently accepting connections/,
  // Files of PostgreSQL; Supabase's pooler, with and without its own codes; Neon's proxy.
  XX000:
    /^could not \w+|^\(E[A-Z_]+\)|max clients|max client connections|checkout timeout|connection to database closed|DbHandler|(?:tenant|user).* not found|authentication|control plane|compute node/i,
};
/** Logins and databases that are refused, as a wrong setting or a changed password is. */
const REFUSED_LOGIN = /^(?:28...|3D000)$/;
const UNKNOWN_TENANT = /(?:tenant|user).* not found|authentication|password/i;

/** Returns whether a code is an SQLSTATE. `EPIPE` and other codes of sockets are not. */
export const isSqlState = (code: string): boolean => /^(?!E[A-Z])[0-9A-Z]{5}$/.test(code);

/** Returns whether an error with an SQLSTATE is an outage. FATAL is the end, or the refusal, of a session. */
export function isOutage({ code, message, severity }: Reported): boolean {
  if (severity === "FATAL" || severity === "PANIC") return true;
  const state = String(code ?? "");
  if (CLASSES.test(state) || STATES.includes(state)) return isSqlState(state);
  return WORDINGS[state]?.test(String(message)) ?? false;
}

/** Returns whether the login or the database was refused, which only an operator can change. */
export const isRefusedLogin = ({ code, message }: Reported): boolean =>
  REFUSED_LOGIN.test(String(code)) || (code === "XX000" && UNKNOWN_TENANT.test(String(message)));
