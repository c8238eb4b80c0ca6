/** Errors that count as an outage of the database, wherever they are reported. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresDatabase } from "../../../lib/platform/database/postgres.ts";
import { isUnavailable } from "../../../lib/platform/database/unavailable.ts";
import { openPool, Session } from "../../../packages/world-postgres/src/database.ts";
import { describeRefusal } from "../../../packages/world-postgres/src/outage.ts";
import {
  describeDatabaseError,
  isConnectionLoss,
  isDatabaseOutage,
} from "../../../scripts/embedded/describe-database-error.ts";
import { type Refusal, startFakePostgres } from "../../support/fakes/postgres.ts";

/** Each with what PostgreSQL or a pooler says. */
const outages: [string, string][] = [
  ["08000", "connection exception"],
  ["08003", "connection does not exist"],
  ["08006", "connection failure"],
  // PgBouncer has this code for nearly everything that it says itself.
  ["08P01", "server conn crashed?"],
  ["08P01", "query_wait_timeout"],
  ["08P01", "pgbouncer cannot connect to server"],
  ["08P01", "the database system is shutting down"],
  ["25006", "cannot execute INSERT in a read-only transaction"],
  ["25006", "cannot execute LISTEN during recovery"],
  ["0A000", "cannot access temporary or unlogged relations during recovery"],
  ["55000", "recovery is in progress"],
  ["55000", 'database "postgres" is not currently accepting connections'],
  ["25P03", "terminating connection due to idle-in-transaction timeout"],
  ["25P04", "terminating connection due to transaction timeout"],
  ["28000", "no pg_hba.conf entry for host"],
  ["28P01", 'password authentication failed for user "api"'],
  ["3D000", 'database "api" does not exist'],
  ["40001", "canceling statement due to conflict with recovery"],
  ["40P01", "deadlock detected"],
  ["53000", "insufficient resources"],
  ["53100", "could not extend file: No space left on device"],
  ["53200", "out of memory"],
  ["53300", "sorry, too many clients already"],
  ["53400", "configuration limit exceeded"],
  ["55P03", "canceling statement due to lock timeout"],
  ["57014", "canceling statement due to statement timeout"],
  ["57P01", "terminating connection due to administrator command"],
  ["57P02", "terminating connection because of crash of another server process"],
  ["57P03", "the database system is starting up"],
  ["57P04", "database was dropped"],
  ["57P05", "terminating connection due to idle-session timeout"],
  ["58000", "system error"],
  ["58030", "could not read block 4 in file: Input/output error"],
  ["58P01", 'could not open file "base/5/1259": No such file or directory'],
  ["42501", 'could not open file "base/5/1259": Read-only file system'],
  ["XX000", "could not write init file: No space left on device"],
  // Supabase's pooler, older and newer.
  ["XX000", "Max client connections reached"],
  [
    "XX000",
    "MaxClientsInSessionMode: max clients reached - in Session mode max clients are limited",
  ],
  ["XX000", "Tenant or user not found"],
  ["XX000", "DbHandler exited. Check logs for more information"],
  ["XX000", "(EDBHANDLEREXITED) connection to database closed. Check logs for more information"],
  ["XX000", "(ECHECKOUTTIMEOUT) unable to check out connection from the pool after 15000ms"],
];
const defects: [string, string][] = [
  ["0A000", "cached plan must not change result type"],
  ["22P02", "invalid input syntax for type uuid"],
  ["23505", "duplicate key value violates unique constraint"],
  ["25001", "CREATE INDEX CONCURRENTLY cannot run inside a transaction block"],
  ["42501", "permission denied for table accounts"],
  ["42703", 'column "recovery is in progress" does not exist'],
  ["42883", "function public.missing() does not exist"],
  ["55000", 'currval of sequence "s" is not yet defined in this session'],
  ["P0001", "could not write file"],
  ["PT409", "max clients reached"],
  ["XX000", "cache lookup failed for relation 16384"],
  ["XX001", "invalid page in block 0 of relation base/5/1259"],
];

let server: Awaited<ReturnType<typeof startFakePostgres>>;
beforeAll(async () => {
  server = await startFakePostgres();
});
afterAll(() => server?.close());

/** Calls SQL functions and the engine's statements, and returns whether each reports an outage. */
async function reportedBy(refusal: Refusal): Promise<boolean[]> {
  server.state.refusal = refusal;
  const functions = new PostgresDatabase(server.url, 1);
  const answer = await functions.call("installation_id", {});
  expect(answer.error?.message).toContain(refusal.message);
  await functions.close();
  const pool = openPool(server.url, 1, () => {});
  const session = new Session(server.url);
  const engine = [pool.sql`select 1`, session.open().then((sql) => sql`select 1`)].map((work) =>
    work.then(
      () => expect.unreachable("It was not refused"),
      (error: { code: string }) => error.code === "DATABASE_UNAVAILABLE",
    ),
  );
  const reported = [isUnavailable(answer), ...(await Promise.all(engine))];
  await pool.end();
  return reported;
}

const yes = [true, true, true];

describe.each(outages)("%s %s", (code, message) => {
  it("is an outage at the connection, in a request and in the engine", async () => {
    for (const at of ["connect", "request"] as const) {
      expect(await reportedBy({ at, severity: "ERROR", code, message })).toEqual(yes);
    }
  });

  it("is one over REST, whatever the status is, and in the background of the REST server", () => {
    for (const status of [400, 403, 405, 500, 503]) {
      expect(isUnavailable({ error: { code, message }, status })).toBe(true);
    }
    expect(isDatabaseOutage(Object.assign(new Error(message), { code }))).toBe(true);
  });
});

describe.each(defects)("%s %s", (code, message) => {
  it("is no outage, unless it ends the session", async () => {
    const no = [false, false, false];
    expect(await reportedBy({ at: "request", severity: "ERROR", code, message })).toEqual(no);
    expect(await reportedBy({ at: "request", severity: "FATAL", code, message })).toEqual(yes);
    expect(await reportedBy({ at: "connect", severity: "FATAL", code, message })).toEqual(yes);
    expect(isUnavailable({ error: { code, message }, status: 500 })).toBe(false);
    expect(isDatabaseOutage(Object.assign(new Error(message), { code }))).toBe(false);
  });
});

it.each(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EAI_AGAIN", "CONNECTION_CLOSED"])(
  "%s of a socket or a driver is the loss of the connection",
  (code) => {
    const error = Object.assign(new Error(`write ${code}`), { code });
    expect([isDatabaseOutage(error), isConnectionLoss(error)]).toEqual([true, true]);
    expect(describeDatabaseError(error)).toMatchObject({ status: 503 });
  },
);

it.each([401, 402, 403, 408, 429, 500, 502, 503, 504, 520, 540])(
  "%i without a code is a gateway's refusal or failure",
  (status) => {
    const error = { message: "Service for this project is restricted" };
    expect(isUnavailable({ error, status })).toBe(true);
  },
);

it("a refused login is told from a pooler that has no connection left", () => {
  const refused = outages.filter(([code, message]) => describeRefusal({ code, message }));
  expect(refused.map(([code]) => code)).toEqual(["28000", "28P01", "3D000", "XX000"]);
});

it("PostgreSQL ends statements that no one waits for, and no setting is in the startup message", async () => {
  server.statements.length = 0;
  await reportedBy({ at: "request", severity: "ERROR", code: "57014", message: "canceling" });
  expect(server.statements).toHaveLength(3);
  for (const statement of server.statements) {
    const limit = /set statement_timeout = (\d+)/.exec(statement)?.[1];
    expect(Number(limit)).toBeGreaterThan(0);
    expect(statement).toMatch(/set idle_in_transaction_session_timeout = \d+/);
  }
});
