/**
 * The engine's connections to PostgreSQL: a pool for short prepared statements, one session that is
 * held for its lock, and one that listens. A lost connection is replaced at its next use. Its
 * in-flight statements fail, and the durable run retries.
 */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Pool as ConnectionPool, parseDatabaseUrl } from "./connection.ts";
import { type Measurements, noMeasurements } from "./measurements.ts";
import { isOutage } from "./outage.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A tagged template: each value becomes a parameter. Arrays are PostgreSQL arrays, never JSON. */
export type Sql = (strings: TemplateStringsArray, ...values: readonly unknown[]) => Promise<Row[]>;

/** The database did not answer, or cannot execute the statement at present, so the calling step must be repeated. */
class EngineUnavailable extends Error {
  override readonly name = "EngineUnavailable";
  readonly code = "DATABASE_UNAVAILABLE";
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A statement of the engine that takes longer is on a dead connection. */
const QUERY_TIMEOUT_MS = 15_000;
/** PostgreSQL itself ends a statement shortly before its client stops waiting. */
const LIMITS = `
  set statement_timeout = ${QUERY_TIMEOUT_MS - 1_000};
  set idle_in_transaction_session_timeout = ${QUERY_TIMEOUT_MS}`;
/** With it the server notices within seconds that this machine has disappeared. */
const KEEPALIVES = `
  set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`;
const RECONNECT_MS = 500;
/** A listener may receive nothing for hours, and no TCP timeout detects a lost network. */
const PING_MS = 5_000;
const PING = { text: "select", query_timeout: PING_MS };

const SETTINGS: pg.ClientConfig = {
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  query_timeout: QUERY_TIMEOUT_MS,
  keepAlive: true,
  application_name: "agent-platform-engine",
};

const connectionTo = (databaseUrl: string): pg.ClientConfig => ({
  ...parseDatabaseUrl(databaseUrl),
  ...SETTINGS,
});

function sqlOver(client: Pick<pg.ClientBase, "query">): Sql {
  /** One prepared statement for each place in the code. */
  const statements = new Map<TemplateStringsArray, { name: string; text: string }>();
  return async (strings, ...values) => {
    let statement = statements.get(strings);
    if (!statement) {
      const text = strings.reduce((before, part, place) => `${before}$${place}${part}`);
      statement = { name: `engine_${statements.size}`, text };
      statements.set(strings, statement);
    }
    try {
      return (await client.query<Row>({ ...statement, values: [...values] })).rows;
    } catch (error) {
      throw asUnavailable(error);
    }
  };
}

/** Returns the error of an outage in its place, and any other error as it is. */
function asUnavailable(cause: unknown): unknown {
  if (cause instanceof pg.DatabaseError && !isOutage(cause)) return cause;
  return new EngineUnavailable("The durable engine's database did not answer", { cause });
}

/** Resolves to false when an outage has failed the work, which is repeated elsewhere. @throws every other error */
export async function unlessUnavailable(
  work: Promise<void>,
  onError: (error: unknown) => void,
): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(asUnavailable(error) instanceof EngineUnavailable)) throw error;
    onError(error);
    return false;
  }
}

export interface Pool {
  readonly sql: Sql;
  end(): Promise<void>;
}

/**
 * Connects at the first statement.
 * @param max the number of connections
 */
export function openPool(
  databaseUrl: string,
  max: number,
  onError: (error: unknown) => void,
  measurements: Measurements = noMeasurements,
): Pool {
  const pool = new ConnectionPool(databaseUrl, { ...SETTINGS, max }, LIMITS);
  // Without a listener, an idle connection that breaks would end the process. The second argument is the
  // client, which must not be logged.
  pool.on("error", (error) => onError(error));
  measurements.observePool(pool);
  return { sql: sqlOver({ query: pool.query.bind(pool) }), end: () => pool.end() };
}

/** One database session, which is replaced after it is lost. */
export class Session {
  readonly #databaseUrl: string;
  #open: Promise<Sql> | undefined;

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl;
  }

  /** Resolves with the session's statements: a new function for every new session. */
  open(): Promise<Sql> {
    if (this.#open) return this.#open;
    // The end of a lost connection may be reported after its replacement was opened.
    const lose = () => {
      if (this.#open === opening) this.#open = undefined;
    };
    const opening = this.#connect(lose).catch((error: unknown) => {
      lose();
      throw error;
    });
    this.#open = opening;
    return opening;
  }

  async #connect(lose: () => void): Promise<Sql> {
    const client = new pg.Client(connectionTo(this.#databaseUrl));
    client.on("error", lose);
    client.on("end", lose);
    try {
      await client.connect();
      await client.query(`${LIMITS}; ${KEEPALIVES}`);
    } catch (error) {
      client.end().catch(() => {});
      throw asUnavailable(error);
    }
    const sql = sqlOver(client);
    return async (strings, ...values) => {
      try {
        return await sql(strings, ...values);
      } catch (error) {
        // The next statement would wait behind one that is never answered.
        if (error instanceof EngineUnavailable) void client.end();
        throw error;
      }
    };
  }
}

/** Listens for `notify` on its channels, and reconnects whenever the connection is lost. */
export class Listener {
  readonly #databaseUrl: string;
  readonly #channels: ReadonlyMap<string, (payload: string) => void>;
  readonly #onReconnected: () => void;
  readonly #onError: (error: unknown) => void;

  /** @param onReconnected catches up on notifications missed while the connection was lost. */
  constructor(
    databaseUrl: string,
    channels: Readonly<Record<string, (payload: string) => void>>,
    onReconnected: () => void,
    onError: (error: unknown) => void,
  ) {
    this.#databaseUrl = databaseUrl;
    this.#channels = new Map(Object.entries(channels));
    this.#onReconnected = onReconnected;
    this.#onError = onError;
  }

  /** Resolves when it listens, or when an outage keeps it from listening until it has passed. */
  async start(): Promise<void> {
    if (!(await unlessUnavailable(this.#connect(), this.#onError))) void this.#restart();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(connectionTo(this.#databaseUrl));
    client.on("error", this.#onError);
    client.on("notification", ({ channel, payload }) =>
      this.#channels.get(channel)?.(payload ?? ""),
    );
    try {
      await client.connect();
      for (const channel of this.#channels.keys()) await client.query(`listen ${channel}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    const ping = setInterval(() => {
      client.query(PING).catch(() => client.end());
    }, PING_MS).unref();
    client.on("end", () => {
      clearInterval(ping);
      void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    for (;;) {
      await delay(RECONNECT_MS, undefined, { ref: false });
      try {
        await this.#connect();
        return this.#onReconnected();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
