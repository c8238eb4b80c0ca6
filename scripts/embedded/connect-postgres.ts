import postgres from "postgres";
import { parseDatabaseUrl } from "../../packages/world-postgres/src/connection.ts";

type Options = postgres.Options<Record<string, postgres.PostgresType>>;

/** Returns the parts of a database URL in the form of the driver `postgres`. */
export function driverOptions(url: string): Options {
  const { options, ...address } = parseDatabaseUrl(url);
  const { host, port = 5432 } = address;
  // The driver would cut an address of IPv6 at its first colon.
  const listed: object = /^[^/]*:/.test(host) ? { host: [host], port: [port] } : {};
  return { ...address, ...listed, ...(options && { connection: { options } }) };
}

/** Connects at the first statement. @throws Error when a file of certificates cannot be read */
export const connectPostgres = (url: string, options: Options): postgres.Sql =>
  postgres({ ...driverOptions(url), onnotice: () => {}, ...options });
