/** The engine's connections to PostgreSQL through a network that fails without closing them. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Listener, Session } from "../../packages/world-postgres/src/database.ts";
import { setting, sql } from "../support/harness/stack.ts";

/** The connections of the clients under test, oldest first. */
const clients: Socket[] = [];
const silent = new Set<Socket>();
/** Forwards bytes, unless the connection is silent, and never the end of a connection. */
const proxy = createServer({ allowHalfOpen: true }, (client) => {
  const { hostname, port } = new URL(setting("DATABASE_URL"));
  const server = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  clients.push(client);
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on("data", (bytes) => !silent.has(client) && to.writable && to.write(bytes));
    from.on("error", () => {});
  }
  client.on("close", () => server.destroy());
});
let proxied: string;

beforeAll(async () => {
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const url = new URL(setting("DATABASE_URL"));
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  proxied = url.href;
});
afterAll(() => {
  proxy.close();
  for (const client of clients) client.destroy();
});

test("the end of a lost session, reported late, does not end its successor", async () => {
  const session = new Session(proxied);
  const first = await session.open();
  const [backend] = await first`select pg_backend_pid() as pid`;
  const [lost] = clients.splice(0);
  await sql`select pg_terminate_backend(${Number(backend?.pid)})`;
  await expect.poll(() => session.open()).not.toBe(first);
  const second = await session.open();
  lost?.end();
  await once(lost ?? proxy, "close");
  await second`select`;
  expect(await session.open()).toBe(second);
});

test("a network that is lost silently is noticed, and the connections are replaced", async () => {
  const heard: string[] = [];
  let reconnections = 0;
  const listener = new Listener(
    proxied,
    { network_test: (payload) => heard.push(payload) },
    () => reconnections++,
    () => {},
  );
  await listener.start();
  const session = new Session(proxied);
  const before = await session.open();
  for (const client of clients) silent.add(client);
  await expect(before`select`).rejects.toThrow("did not answer");
  await expect.poll(() => session.open()).not.toBe(before);
  await expect.poll(() => reconnections, { timeout: 30_000 }).toBe(1);
  await sql`select pg_notify('network_test', 'heard')`;
  await expect.poll(() => heard).toEqual(["heard"]);
}, 60_000);
