/** How the two drivers interpret a database URL. */
import pg from "pg";
import { expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../packages/world-postgres/src/connection.ts";
import { connectPostgres } from "../../../scripts/embedded/connect-postgres.ts";

const cases: [url: string, expected: Readonly<Record<string, unknown>>][] = [
  ["postgres://u:p@db/n", { host: "db", port: 5432, user: "u", password: "p", database: "n" }],
  ["postgres://u@db:6543", { host: "db", port: 6543, user: "u", database: "u" }],
  ["postgres://u:p@127.0.0.1:1/n", { host: "127.0.0.1", port: 1 }],
  ["postgres://u:p@[::1]:5433/n", { host: "::1", port: 5433 }],
  [
    "postgres://a%20b:p%27%2F%40%25@db/my%20db",
    { user: "a b", password: "p'/@%", database: "my db" },
  ],
  ["postgres://u:100%x@db/n", { password: "100%x" }],
  [
    "postgres://u:p@db/n?pgbouncer=true&search_path=x&application_name=y&sslmode=disable",
    { ssl: false },
  ],
  ["postgres://u:p@localhost/n?host=/cloudsql/a:b:c", { host: "/cloudsql/a:b:c", database: "n" }],
];

it.each(cases)("%s is the same to both", (url, expected) => {
  const sent = new pg.Client({ ...parseDatabaseUrl(url) }) as unknown as {
    host: string;
    port: number;
    user: string;
    password: string;
    database: string;
    ssl: unknown;
  };
  expect(sent).toMatchObject(expected);
  const { options } = connectPostgres(url, {});
  const { ssl = false, ...address } = expected;
  const [host] = options.host;
  const [port] = options.port;
  const other = {
    ...options,
    host: options.path ? address.host : host,
    port,
    password: options.pass,
  };
  expect(other).toMatchObject(address);
  expect(Boolean(options.ssl)).toBe(Boolean(ssl));
  expect(Object.keys(options.connection)).toEqual(["application_name"]);
});

it("options are passed on, because only a direct connection may have them", () => {
  const url = "postgres://u@db/n?options=-c%20lock_timeout%3D1s";
  expect(parseDatabaseUrl(url).options).toBe("-c lock_timeout=1s");
  expect(connectPostgres(url, {}).options.connection).toMatchObject({
    options: "-c lock_timeout=1s",
  });
});

it.each(["sslmode=require", "sslmode=verify-ca", "sslmode=verify-full", "ssl=true"])(
  "%s verifies the certificate for the host",
  (parameters) => {
    expect(parseDatabaseUrl(`postgres://u@10.0.0.5/n?${parameters}`).ssl).toEqual({
      host: "10.0.0.5",
      rejectUnauthorized: true,
    });
  },
);

it("no-verify encrypts without", () => {
  expect(parseDatabaseUrl("postgres://u@db/n?sslmode=no-verify").ssl).toMatchObject({
    rejectUnauthorized: false,
  });
});
