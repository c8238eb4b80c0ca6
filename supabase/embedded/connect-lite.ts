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
    return this.kysely.transaction().execute(async (transaction) => {
      const names = Object.keys(context);
      const calls = names.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`);
      await transaction.executeQuery({
        sql: `select ${calls.join(", ")}`,
        parameters: names.flatMap((name) => [name, context[name]]),
        query: { kind: "RawNode", sqlFragments: [], parameters: [] },
        queryId: { queryId: "request-context" },
      });
      return work(transaction);
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
  return new Connection(config);
}
