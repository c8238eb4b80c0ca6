import { type IPostgresConnectionConfig, PostgresConnection } from "@supabase/lite/postgres";
import { describeDatabaseError } from "./describe-database-error.ts";

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
  prepareStatements(connection.driver);
  return connection;
}

/**
 * Statements come back in the same few shapes: prepared, each costs one round trip instead of two,
 * and PostgreSQL parses it once.
 */
function prepareStatements(driver: PostgresConnection["driver"]): void {
  const reserve = driver.reserve.bind(driver);
  driver.reserve = async () => {
    const connection = await reserve();
    const unsafe = connection.unsafe.bind(connection);
    connection.unsafe = (text, parameters, options) =>
      unsafe(text, parameters, { prepare: true, ...options });
    return connection;
  };
}
