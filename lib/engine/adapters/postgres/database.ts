/**
 * How the engine talks to PostgreSQL: short prepared statements over a pool, one session that is
 * held for its lock, and one that listens. A connection that is lost is replaced at the next use;
 * what was under way on it fails, and the durable run tries again.
 */
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { DatabaseUnavailable, isOutageCode } from "../../../platform/database/unavailable.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A tagged template: each value becomes a parameter. Arrays are PostgreSQL arrays, never JSON. */
export type Sql = (strings: TemplateStringsArray, ...values: readonly unknown[]) => Promise<Row[]>;

const CONNECT_TIMEOUT_MS = 10_000;
/** No statement of the engine takes longer, unless the connection is dead. */
const QUERY_TIMEOUT_MS = 15_000;
const RECONNECT_MS = 500;

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
      if (error instanceof pg.DatabaseError && !isOutageCode(error.code ?? "")) throw error;
      throw new DatabaseUnavailable("The durable engine's database did not answer", {
        cause: error,
      });
    }
  };
}

/** Ten connections carry hundreds of runs. */
export function openPool(databaseUrl: string, onError: (error: unknown) => void): Sql {
  const pool = new pg.Pool({ ...connectionTo(databaseUrl), max: 10 });
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on("error", onError);
  return sqlOver({ query: pool.query.bind(pool) });
}

/** One session of the database, held as long as it lives. */
export class Session {
  readonly #databaseUrl: string;
  #open: Promise<Sql> | undefined;

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl;
  }

  /** The session's statements; the function is another one when the session is. */
  open(): Promise<Sql> {
    this.#open ??= this.#connect().catch((error: unknown) => {
      this.#open = undefined;
      throw error;
    });
    return this.#open;
  }

  async #connect(): Promise<Sql> {
    const client = new pg.Client({
      ...connectionTo(this.#databaseUrl),
      // The server notices within seconds when this machine vanishes altogether.
      options: "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3",
    });
    const lose = () => {
      this.#open = undefined;
    };
    client.on("error", lose);
    client.on("end", lose);
    await client.connect();
    return sqlOver(client);
  }
}

/** Hears `notify` on its channels, again after each loss of the connection. */
export class Listener {
  readonly #databaseUrl: string;
  readonly #channels: ReadonlyMap<string, (payload: string) => void>;
  readonly #onError: (error: unknown) => void;

  constructor(
    databaseUrl: string,
    channels: Readonly<Record<string, (payload: string) => void>>,
    onError: (error: unknown) => void,
  ) {
    this.#databaseUrl = databaseUrl;
    this.#channels = new Map(Object.entries(channels));
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
    client.on("end", () => void this.#restart());
  }

  async #restart(): Promise<void> {
    for (;;) {
      await delay(RECONNECT_MS, undefined, { ref: false });
      try {
        return await this.start();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
