import { setTimeout as delay } from "node:timers/promises";
import { type IPostgresConnectionConfig, PostgresConnection } from "@supabase/lite/postgres";
import type postgres from "postgres";
import { isFull } from "../../packages/world-postgres/src/connection.ts";
import { driverOptions } from "./connect-postgres.ts";
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
const MAX_CONNECTIONS = 40;

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

/** @param keepsSession whether a connection keeps its session, as it does not through a pooler in transaction mode */
export function connectLite(url: string, keepsSession = true): PostgresConnection {
  const config: IPostgresConnectionConfig = {
    // The driver would send parameters of a URL that it does not know to PostgreSQL.
    url: "",
    postgresOptions: {
      ...driverOptions(url),
      prepare: keepsSession,
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
  replacePool(connection.driver, config);
  return connection;
}

/** A connection that has been open for longer is replaced before its next use. */
const MAX_LIFETIME_MS = 45 * 60_000;
/** A connection that no one has used for that long is closed, because a pooler may have few. */
const IDLE_MS = 30_000;
/** A new connection that takes longer waits for one of a full pooler. */
const SETUP_MS = 3_000;
/** For how long no further connection is tried after none was given. */
const FULL_MS = 60_000;

interface Slot {
  readonly sql: postgres.ReservedSql;
  readonly openedAt: number;
  usedAt: number;
  isLost: boolean;
}

/**
 * Replaces how the driver reserves connections, which is how the REST server uses it: each is a pool of one, which
 * reports the loss of its connection.
 *
 * The driver's own pool takes a connection that was lost while reserved for a healthy one. Between two statements,
 * the next one would end this process, because it is written to a socket that is gone; otherwise, the next user would
 * wait forever. Statements are prepared where a connection keeps its session, because they have few shapes and a
 * prepared one takes one round trip instead of two.
 */
function replacePool(
  driver: PostgresConnection["driver"],
  { url, postgresOptions }: IPostgresConnectionConfig,
): void {
  const prepare = postgresOptions?.prepare ?? true;
  const slots = new Set<Slot>();
  const idle: Slot[] = [];
  const waiting: ((slot: Slot) => void)[] = [];
  const open = (): Slot => {
    const lose = () => {
      slot.isLost = true;
    };
    const one = { ...postgresOptions, max: 1, max_lifetime: null, onclose: lose };
    const opened = new PostgresConnection({ url, postgresOptions: one }).driver;
    const unsafe = opened.unsafe.bind(opened);
    const sql = Object.assign(opened, {
      unsafe: (text: string, parameters?: postgres.ParameterOrJSON<never>[]) => {
        if (slot.isLost) throw new ConnectionLost();
        const query = unsafe(text, parameters, { prepare });
        query.catch((error: unknown) => isConnectionLoss(error) && lose());
        return query;
      },
      release: () => {
        const next = waiting.shift();
        if (next) next(renew(slot));
        else idle.push(Object.assign(slot, { usedAt: Date.now() }));
      },
    });
    const slot: Slot = { sql, openedAt: Date.now(), usedAt: Date.now(), isLost: false };
    slots.add(slot);
    return slot;
  };
  const renew = (slot: Slot): Slot => {
    if (!slot.isLost && Date.now() - slot.openedAt < MAX_LIFETIME_MS) return slot;
    close(slot);
    return open();
  };
  const close = (slot: Slot): void => {
    slots.delete(slot);
    slot.sql.end({ timeout: 1 }).catch(() => {});
  };
  let limit = MAX_CONNECTIONS;
  /** Opens a connection if there is one to be had, and otherwise waits for another one. */
  const openFurther = async (): Promise<Slot> => {
    const slot = open();
    const works = slot.sql.unsafe("select").then(
      () => true,
      // The use of the connection reports any other error.
      (error: unknown) => !isFull(error),
    );
    if (slots.size === 1 || (await Promise.race([works, delay(SETUP_MS, false)]))) return slot;
    close(slot);
    limit = Math.max(1, Math.min(limit, slots.size));
    setTimeout(() => {
      limit = MAX_CONNECTIONS;
    }, FULL_MS).unref();
    return takeIdle() ?? new Promise((resolve) => waiting.push(resolve));
  };
  const takeIdle = (): Slot | undefined => {
    const slot = idle.pop();
    return slot && renew(slot);
  };
  setInterval(() => {
    while (idle[0] && Date.now() - idle[0].usedAt > IDLE_MS) close(idle.shift() as Slot);
  }, IDLE_MS).unref();
  driver.reserve = async () => {
    const slot = takeIdle();
    if (slot) return slot.sql;
    if (slots.size < limit) return (await openFurther()).sql;
    return (await new Promise<Slot>((resolve) => waiting.push(resolve))).sql;
  };
  driver.end = async (options) => {
    await Promise.all([...slots].map(({ sql }) => sql.end(options)));
  };
}

/** As the driver reports it. */
class ConnectionLost extends Error {
  readonly code = "CONNECTION_CLOSED";

  constructor() {
    super("The connection to PostgreSQL was lost");
  }
}
