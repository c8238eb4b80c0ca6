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
    /^could not \w+|^\((?!ESETNOTALLOWED|ESESSIONLEAK)E[A-Z_]+\)|max clients|max client connections|checkout timeout|connection to database closed|DbHandler|(?:tenant|user).* not found|authentication|control plane|compute node/i,
};
/** Logins and databases that are refused, as a wrong setting or a changed password is. */
const REFUSED_LOGIN = /^(?:28...|3D000)$/;
/** The same from poolers, which use other codes: PgBouncer reports nearly everything as 08P01. */
const REFUSED_BY_POOLER: Readonly<Record<string, RegExp>> = {
  "08P01":
    /^unsupported startup parameter|authentication failed|^no such (?:user|database)|^database "[^"]*" does not exist/i,
  XX000: /(?:tenant|user).* not found|authentication|password/i,
};
/** Errors of Node about the certificate of the other side. */
const REFUSED_CERTIFICATES: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is not from a trusted CA",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not from a trusted CA",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is not from a trusted CA",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is not from a trusted CA",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not from a trusted CA",
};

/** Returns whether a code is an SQLSTATE. `EPIPE` and other codes of sockets are not. */
export const isSqlState = (code: string): boolean => /^(?!E[A-Z])[0-9A-Z]{5}$/.test(code);

/** Returns whether an error with an SQLSTATE is an outage. FATAL is the end, or the refusal, of a session. */
export function isOutage({ code, message, severity }: Reported): boolean {
  if (severity === "FATAL" || severity === "PANIC") return true;
  const state = String(code ?? "");
  if (CLASSES.test(state) || STATES.includes(state)) return isSqlState(state);
  return WORDINGS[state]?.test(String(message)) ?? false;
}

/**
 * Returns why a connection was refused, if only an operator can change it, in a clause about the database with the
 * remedy; otherwise undefined.
 */
export function describeRefusal({ code, message }: Reported): Refusal | undefined {
  const state = String(code);
  const text = String(message);
  const fault = REFUSED_CERTIFICATES[state];
  if (fault) {
    return {
      detail: `${fault} (${state})`,
      remedy:
        "Set `sslrootcert` in the URL, or NODE_EXTRA_CA_CERTS, to the file of the CA, and the host to a name or an address in the certificate.",
    };
  }
  if (/does not support SSL/.test(text)) {
    return {
      detail: "it has no TLS",
      remedy: "Remove `sslmode` from the URL, or switch its TLS on.",
    };
  }
  if (/\bSSL (?:connection is )?required|no encryption$/.test(text)) {
    return { detail: "it takes only TLS", remedy: "Add `sslmode=verify-full` to the URL." };
  }
  if (/^The file of ssl/.test(text)) {
    return { detail: text, remedy: "Name a file by its absolute path, which the server may read." };
  }
  const parameter = /^unsupported startup parameter:? (\w+)/.exec(text)?.[1];
  if (parameter) {
    return {
      detail: `its pooler refuses the parameter \`${parameter}\``,
      remedy: `Remove \`${parameter}\` from the URL and PGOPTIONS from the environment, or add it to ignore_startup_parameters of the pooler.`,
    };
  }
  if (!REFUSED_LOGIN.test(state) && !REFUSED_BY_POOLER[state]?.test(text)) return undefined;
  return {
    detail: `it refuses the login or the database (${state})`,
    remedy: "Correct the user, the password and the path of the URL.",
  };
}

export interface Refusal {
  readonly detail: string;
  readonly remedy: string;
}

/** Locks, `listen` and settings of a session would be lost, or reach the sessions of others. */
export const TRANSACTION_MODE: Refusal = {
  detail: "its pooler is in transaction mode, where no connection keeps its session",
  remedy:
    "Set DIRECT_DATABASE_URL to the same database by a direct or session-mode connection; requests then go on through the pooler.",
};
