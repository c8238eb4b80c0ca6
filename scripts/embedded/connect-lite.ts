import { type IPostgresConnectionConfig, PostgresConnection } from "@supabase/lite/postgres";
import type postgres from "postgres";
import {
  describeDatabaseError,
  isConnectionLoss,
  reconnectDelay,
} from "./describe-database-error.ts";

type WithContext = PostgresConnection["withContext"];
type Vars = Parameters<WithContext>[0];
type Options = NonNullable<Parameters<WithContext>[2]>;
type Database = Parameters<Parameters<WithContext>[1]>[0];

/** The milliseconds after which the callers of the REST server wait no longer: its statements end then, too. */
const STATEMENT_MS = 10_000;

/**
 * The connection of `@supabase/lite`, with fixes for errors and slow paths of its PostgreSQL driver.
 */
class Connection extends PostgresConnection {
  /**
   * Runs `work` in one transaction with the caller's role. The original sends up to eleven statements
   * before every call; this override sends one.
   */
  override async withContext<T>(
    vars: Vars,
    work: (database: Database) => Promise<T>,
    options?: Options,
  ): Promise<T> {
    if (options?.transaction !== undefined || options?.forceRollback === true) {
      return super.withContext(vars, work, options);
    }
    if (vars === undefined) return work(this.kysely);
    const context = requestSettings(vars, options?.rpc);
    return this.kysely.connection().execute(async (connection) => {
      const run = (statement: string) =>
        connection.executeQuery({
          sql: statement,
          parameters: [],
          query: { kind: "RawNode", sqlFragments: [], parameters: [] },
          queryId: { queryId: "request" },
        });
      const calls = Object.entries(context).map(
        ([name, value]) => `set_config('${name}', ${literal(value)}, true)`,
      );
      await run(`begin; select ${calls.join(", ")}`);
      try {
        const result = await work(connection);
        await run("commit");
        return result;
      } catch (error) {
        await run("rollback").catch(() => {});
        throw error;
      }
    });
  }

  override normalizeDbError(error: unknown): unknown {
    return describeDatabaseError(error);
  }
}

function requestSettings(vars: NonNullable<Vars>, rpc: Options["rpc"]): Record<string, string> {
  const auth: { role?: unknown; uid?: unknown; jwt?: unknown } = vars.auth ?? {};
  const role = typeof auth.role === "string" && auth.role !== "" ? auth.role : "anon";
  return {
    role,
    statement_timeout: String(STATEMENT_MS),
    idle_in_transaction_session_timeout: String(STATEMENT_MS),
    "request.jwt.claim.sub": String(auth.uid ?? ""),
    "request.jwt.claim.role": role,
    "request.jwt.claims": JSON.stringify(auth.jwt ?? {}),
    ...(rpc === undefined
      ? {}
      : {
          "response.status": "",
          "response.headers": "",
          "request.method": rpc.method,
          "request.path": rpc.path,
          "request.headers": JSON.stringify(rpc.requestHeaders ?? {}),
          ...(rpc.readOnly ? { transaction_read_only: "on" } : {}),
        }),
  };
}

function literal(text: string): string {
  return ` E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''").replaceAll("\0", "")}'`;
}

// Values that PostgreSQL parses itself arrive here as JSON text already; encoding them again would
// turn an object into a string.
const json = (oid: number) => ({
  to: oid,
  from: [oid],
  serialize: (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value)),
  parse: (text: string): unknown => JSON.parse(text),
});

const instant = (oid: number, suffix: RegExp, zone: string) => ({
  to: oid,
  from: [oid],
  serialize: (value: unknown) => String(value),
  // Converts `2026-01-02 03:04:05.6+00` to PostgREST's `2026-01-02T03:04:05.6+00:00`.
  parse: (text: string) => text.replace(" ", "T").replace(suffix, zone),
});

export function connectLite(url: string): PostgresConnection {
  const config: IPostgresConnectionConfig = {
    url,
    postgresOptions: {
      max: 40,
      backoff: reconnectDelay,
      onnotice: () => {},
      types: {
        json: json(114),
        jsonb: json(3802),
        timestamp: instant(1114, /$^/, ""),
        timestamptz: instant(1184, /([+-]\d\d)$/, "$1:00"),
      },
    },
  };
  const connection = new Connection(config);
  fixReservations(connection.driver, config);
  return connection;
}

/**
 * Fixes how the driver reserves connections, which is how the REST server uses it.
 *
 * Without this, a connection that is lost while reserved would return to the pool as healthy, and
 * its next user would wait forever. A waiter whose connection could not be opened would stay in the
 * queue and later swallow a connection, so such a pool is replaced. Statements are prepared, because
 * they have few shapes and a prepared one takes one round trip instead of two.
 */
function fixReservations(
  driver: PostgresConnection["driver"],
  config: IPostgresConnectionConfig,
): void {
  const first = { reserve: driver.reserve.bind(driver), end: driver.end.bind(driver) };
  let pool: Pick<typeof driver, "reserve" | "end"> = first;
  driver.end = (options) => pool.end(options);
  driver.reserve = async () => {
    const current = pool;
    const connection = await current.reserve().catch((error: unknown) => {
      if (pool === current) {
        pool = new PostgresConnection(config).driver;
        void current.end({ timeout: 1 });
      }
      throw error;
    });
    const unsafe = connection.unsafe.bind(connection);
    const release = connection.release.bind(connection);
    let loss: unknown;
    connection.unsafe = <T extends (postgres.Row & Iterable<postgres.Row>)[]>(
      text: string,
      parameters?: Parameters<typeof unsafe>[1],
      options?: Parameters<typeof unsafe>[2],
    ) => {
      if (loss !== undefined) throw loss;
      const query = unsafe<T>(text, parameters, { prepare: true, ...options });
      query.catch((error: unknown) => {
        if (isConnectionLoss(error)) loss = error;
      });
      return query;
    };
    // The driver itself reopens a lost connection.
    connection.release = () => {
      if (loss === undefined) release();
    };
    return connection;
  };
}
