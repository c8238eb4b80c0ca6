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

/** The connection of `@supabase/lite` with what its PostgreSQL driver gets wrong or does slowly set right. */
class Connection extends PostgresConnection {
  /**
   * Runs `work` in one transaction under the caller's role. The original sends up to eleven
   * statements ahead of every call, one by one; here they are one.
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

// Text that PostgreSQL is to parse itself arrives here as JSON text already; encoding it again would
// make an object a string.
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
  // `2026-01-02 03:04:05.6+00` as PostgREST shows it: `2026-01-02T03:04:05.6+00:00`.
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
  mendReservations(connection.driver, config);
  return connection;
}

/**
 * Sets right how the driver lends out a connection, which is how the general server uses it.
 *
 * A connection that is lost while it is lent out would be taken back as good, and whoever gets it
 * next would wait for ever. A place in the queue whose connection could not be opened stays there
 * and swallows a connection later: such a pool is given up for a new one. And statements come back
 * in the same few shapes: prepared, each costs one round trip instead of two.
 */
function mendReservations(
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
    // The driver itself has put a lost one with those to be opened anew.
    connection.release = () => {
      if (loss === undefined) release();
    };
    return connection;
  };
}
