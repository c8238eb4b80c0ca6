/**
 * The engine's connections to PostgreSQL: a pool for short prepared statements, one session that is
 * held for its lock, and one that listens. A lost connection is replaced at its next use. Its
 * in-flight statements fail, and the durable run retries.
 */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { type Measurements, noMeasurements } from "./measurements.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A tagged template: each value becomes a parameter. Arrays are PostgreSQL arrays, never JSON. */
export type Sql = (strings: TemplateStringsArray, ...values: readonly unknown[]) => Promise<Row[]>;

/** The database did not answer, so the calling step must be repeated. */
class EngineUnavailable extends Error {
  override readonly name = "EngineUnavailable";
  readonly code = "DATABASE_UNAVAILABLE";
}

/** SQLSTATEs of an outage: connection, deadlock, resources, shutdown. */
const OUTAGE = /^(08|40|53|57)/;
const CONNECT_TIMEOUT_MS = 10_000;
/** A statement of the engine that takes longer is on a dead connection. */
const QUERY_TIMEOUT_MS = 15_000;
const RECONNECT_MS = 500;
/** A listener may hear nothing for hours, and no TCP timeout notices that its network is gone. */
const PING_MS = 5_000;
const PING = { text: "select", query_timeout: PING_MS };

function connectionTo(databaseUrl: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: "agent-platform-engine",
  };
}

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
      if (error instanceof pg.DatabaseError && !OUTAGE.test(error.code ?? "")) throw error;
      throw new EngineUnavailable("The durable engine's database did not answer", { cause: error });
    }
  };
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
  const pool = new pg.Pool({ ...connectionTo(databaseUrl), max });
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
    const client = new pg.Client({
      ...connectionTo(this.#databaseUrl),
      // The server must notice within seconds when this machine disappears.
      options: "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3",
    });
    client.on("error", lose);
    client.on("end", lose);
    await client.connect();
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

  /** Resolves when it listens. */
  async start(): Promise<void> {
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
        await this.start();
        return this.#onReconnected();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
