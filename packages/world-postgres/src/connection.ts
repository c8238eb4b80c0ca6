/** How a database URL is used: by both drivers alike, through a pooler or not, with which certificates. */
import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import pg from "pg";

/** The options that both `pg` and `postgres` take in place of a URL, of which they parse different parts. */
export interface Connection {
  readonly host: string;
  readonly port?: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl?: ConnectionOptions | false;
  /** The parameter `options` of the URL. Poolers refuse it, as they do most others in the startup message. */
  readonly options?: string;
}

/**
 * Reads a URL of PostgreSQL. With `sslmode`, except `disable` and `no-verify`, or `sslrootcert`, the certificate must be
 * from a trusted CA and for the host, which may be an address. Other parameters for libpq are left out.
 * @throws Error when a file of certificates cannot be read
 */
export function parseDatabaseUrl(url: string): Connection {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") || decode(hostname.replace(/^\[(.*)\]$/, "$1"));
  const options = searchParams.get("options");
  const ssl = readTls(searchParams, host);
  return {
    host,
    user: decode(username),
    password: decode(password),
    database: decode(pathname.slice(1)),
    ...(port && { port: Number(port) }),
    ...(ssl !== undefined && { ssl }),
    ...(options && { options }),
  };
}

/** A password may have a `%` that starts no encoded character. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readTls(parameters: URLSearchParams, host: string): Connection["ssl"] {
  const sslmode = parameters.get("sslmode") ?? parameters.get("ssl");
  if (/^(?:disable|false|0)$/.test(sslmode ?? "")) return false;
  const file = (name: string) => {
    const path = parameters.get(name);
    if (!path || path === "system") return {};
    try {
      return { [name === "sslrootcert" ? "ca" : name.slice("ssl".length)]: readFileSync(path) };
    } catch (error) {
      throw new Error(`The file of ${name} cannot be read: ${Object(error).message}`);
    }
  };
  const files = { ...file("sslrootcert"), ...file("sslcert"), ...file("sslkey") };
  if (sslmode === null && Object.keys(files).length === 0) return undefined;
  // The drivers do not pass the address they have connected to, and Node would expect `localhost`.
  return { ...files, host, rejectUnauthorized: sslmode !== "no-verify" };
}

/** A new connection that takes longer to set up waits for one of a full pooler. */
const SETUP_MS = 3_000;
/** A connection is replaced after it, so those who wait for one of a full pooler get their turn. */
const LIFETIME_SECONDS = 60;
/** For how long a pool tries no further connection after it was given none. */
const FULL_MS = 60_000;
const IS_FULL =
  /^Query read timeout|due to connection timeout|^timeout expired|max.*client|no more connections|^remaining connection slots|too many (?:clients|connections)/i;

/** Returns whether an error means that no further connection is available, while others may work. */
export const isFull = (error: unknown): boolean => IS_FULL.test(Object(error).message);

/** A pool that makes do with its connections where the database, or the pooler in front of it, gives no further one. */
export class Pool extends pg.Pool {
  /** @param setUp the statements that a new session starts with */
  constructor(url: string, settings: pg.PoolConfig, setUp = "select") {
    super({
      ...parseDatabaseUrl(url),
      keepAlive: true,
      maxLifetimeSeconds: LIFETIME_SECONDS,
      onConnect: async (client) => {
        await client.query(Object.assign({ text: setUp }, { query_timeout: SETUP_MS }));
      },
      ...settings,
    });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    const connecting = super.connect().catch((error: unknown) => {
      if (this.totalCount === 0 || !isFull(error)) throw error;
      const { max } = this.options;
      if (this.totalCount < max) {
        this.options.max = this.totalCount;
        setTimeout(() => {
          this.options.max = Math.max(max, this.options.max);
        }, FULL_MS).unref();
      }
      return super.connect();
    });
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(undefined, client, (failed) => client.release(failed)),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }
}

type Callback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (failed?: boolean | Error) => void,
) => void;

/** Whether a client keeps its session of PostgreSQL: directly, through a pooler, or only for a transaction. */
export type Pooling = "none" | "session" | "transaction";

const ROUNDS = 4;

/**
 * Compares the processes of PostgreSQL that serve two connections: each keeps the same one, unless a pooler lends
 * processes for a transaction. Changes nothing in a session.
 * @throws the error of the connection
 */
export async function detectPooling(url: string, timeoutMs: number): Promise<Pooling> {
  const { host, port } = parseDatabaseUrl(url);
  // Supabase's poolers, which have the other mode at another port.
  if (port === 6543 && /\.supabase\.(?:co|com)$/.test(host)) return "transaction";
  const settings = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const connect = () => new pg.Client({ ...parseDatabaseUrl(url), ...settings });
  const [one, other] = [connect(), connect()];
  for (const client of [one, other]) client.on("error", () => {});
  const processOf = async (client: pg.Client): Promise<number> =>
    (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid ?? 0;
  try {
    await one.connect();
    const first = await processOf(one);
    const reached = other.connect().then(() => processOf(other));
    const second = await reached.catch((cause: unknown) => {
      const error = new Error("No second connection was given: the pool is too small, or full", {
        cause,
      });
      throw Object.assign(error, { code: "ETIMEDOUT" });
    });
    // Twice each by turns: of its idle processes, a pooler lends the one that was used last, or the one before.
    for (let round = 0; round < ROUNDS && first !== second; round++) {
      for (const [client, expected] of [
        [one, first],
        [one, first],
        [other, second],
        [other, second],
      ] as const) {
        if ((await processOf(client)) !== expected) return "transaction";
      }
    }
    if (first === second) return "transaction";
    // A pooler announces a number that it has made up.
    return "processID" in one && one.processID === first ? "none" : "session";
  } finally {
    await Promise.allSettled([one.end(), other.end()]);
  }
}

const DESCRIBED: Readonly<Record<Pooling, string>> = {
  none: "directly",
  session: "through a pooler in session mode",
  transaction: "through a pooler in transaction mode",
};

/** Returns how a URL leads to PostgreSQL, for an operator. */
export function describeWay(url: string, pooling: Pooling): string {
  const { ssl } = parseDatabaseUrl(url);
  if (!ssl) return `${DESCRIBED[pooling]}, without TLS`;
  const more = process.env.NODE_EXTRA_CA_CERTS ? " and NODE_EXTRA_CA_CERTS" : "";
  const authorities = ssl.ca ? "the CA of sslrootcert" : `the CAs of Node${more}`;
  const verified = ssl.rejectUnauthorized ? authorities : "no verified certificate";
  return `${DESCRIBED[pooling]}, with TLS and ${verified}`;
}
