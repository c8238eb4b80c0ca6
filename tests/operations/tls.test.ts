/** A PostgreSQL with a certificate of an own CA, by a host name and by an address, for all parts that connect to it. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkConnections } from "../../lib/health/check-database.ts";
import { parseConfig } from "../../lib/platform/config.ts";
import { environment as systemEnvironment } from "../../packages/sandbox/src/adapters/system/namespace.ts";
import { Listener, Session } from "../../packages/world-postgres/src/database.ts";
import { type RunningPostgres, runPostgres } from "../../scripts/embedded/run-postgres.ts";
import { whenAvailable } from "../../scripts/embedded/when-available.ts";
import { requireMigrations } from "../../scripts/package/database.ts";
import { makeKey, run, serve } from "../package/packaged.ts";
import { startFakeOpenAI } from "../support/fakes/openai.ts";
import { createAuthority, presentCertificate } from "../support/harness/certificates.ts";
import { client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { stack } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

const folder = mkdtempSync(join(tmpdir(), "tls-"));
const at = (name: string) => join(folder, name);
/** Where commands are started, with the `DATA_DIR` of the database. */
const home = mkdtempSync(join(folder, "home-"));
let cluster: RunningPostgres;
let admin: postgres.Sql;
const present = (names: string) => presentCertificate(folder, admin, names);

const url = (host: string, parameters: string) => {
  const made = new URL(cluster.url);
  made.hostname = host;
  made.search = parameters;
  return made.href;
};
const verified = (host: string, ca = at("own-ca.pem")) =>
  url(host, `?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`);
const doctor = (databaseUrl: string) =>
  checkConnections(parseConfig({ ...stack.env, DATABASE_URL: databaseUrl }), {
    installationId: undefined,
    timeoutMs: 5_000,
  });
const program = [
  process.execPath,
  "--disable-warning=ExperimentalWarning",
  resolve("scripts/package/main.ts"),
];

beforeAll(async () => {
  const password = registerSecret(randomBytes(24).toString("hex"), "database password");
  cluster = await runPostgres({ dataDir: folder, password, logFile: at("log") });
  admin = postgres(cluster.url, { max: 1, onnotice: () => {} });
  for (const name of ["own-ca", "other-ca"]) createAuthority(folder, name);
  await present("DNS:localhost,IP:127.0.0.1");
});
afterAll(async () => {
  await admin?.end();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each(["localhost", "127.0.0.1"])("a certificate for %s", (host) => {
  it("is verified by the CA of sslrootcert in doctor, migrations, the engine and the REST part", async () => {
    const settings = { DATABASE_URL: verified(host), DATA_DIR: at(`data-${host}`) };
    expect((await run([...program, "migrate"], folder, settings)).output).toContain(
      "The database is up to date",
    );
    expect(await doctor(settings.DATABASE_URL)).toMatchObject([
      {
        status: "ok",
        detail: expect.stringContaining("directly, with TLS and the CA of sslrootcert"),
      },
    ]);
    const sql = await new Session(settings.DATABASE_URL).open();
    expect(await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`).toEqual([
      { ssl: true },
    ]);
    // It keeps running after the database has ended, so only errors before it listens count.
    const errors: unknown[] = [];
    const note = (error: unknown) => void errors.push(error);
    await new Listener(settings.DATABASE_URL, {}, () => {}, note).start();
    expect(errors).toEqual([]);
  });
});

it("NODE_EXTRA_CA_CERTS of a file of settings reaches commands, the REST part and the server processes", async () => {
  writeFileSync(join(home, "ca.pem"), readFileSync(at("own-ca.pem")));
  const lines = [
    `DATABASE_URL=${url("127.0.0.1", "?sslmode=verify-full")}`,
    "NODE_EXTRA_CA_CERTS=ca.pem",
  ];
  writeFileSync(join(home, ".env"), lines.join("\n"));
  const checked = await run([...program, "doctor"], home, {});
  expect(checked.output).toMatch(
    /ok +connection +PostgreSQL 17 as postgres, directly, with TLS and the CAs of Node and NODE_EXTRA_CA_CERTS/,
  );
  const server = await serve([...program, "server"], home, {});
  const caller = client({ key: await makeKey([...program, "key"], home, {}) }, server.url);
  const conversation = await openConversation(caller);
  const stream = await conversation.send("run: env");
  await stream.ended;
  expect(stream.isDone).toBe(true);
  expect(JSON.stringify(await conversation.answer())).not.toContain("ca.pem");
  server.child.kill("SIGTERM");
  expect((await server.ended).code).toBe(0);

  writeFileSync(join(home, ".env"), [lines[0], "NODE_EXTRA_CA_CERTS=missing.pem"].join("\n"));
  const refused = await run([...program, "doctor"], home, {});
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringContaining("NODE_EXTRA_CA_CERTS cannot be used: ENOENT"),
  });
});

it("a proxy of the environment has requests to vendors, and none of this machine or of sandboxes", async () => {
  const model = await startFakeOpenAI();
  const asked = new Set<string>();
  const proxy = createServer().on("connect", (request, socket) => {
    asked.add(request.url ?? "");
    const target = connect(Number(new URL(model.url).port), "127.0.0.1");
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.pipe(target).pipe(socket);
    for (const side of [socket, target]) side.on("error", () => target.destroy());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const settings = {
    DATABASE_URL: verified("127.0.0.1"),
    HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    OPENAI_BASE_URL: "http://models.example.com/v1",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(home, ".env"), lines.join("\n"));
  const { output } = await run([...program, "doctor"], home, {});
  expect(output).toMatch(/ok +database/);
  expect(output).toMatch(/ok +model/);
  const server = await serve([...program, "server"], home, {});
  const caller = client({ key: await makeKey([...program, "key"], home, {}) }, server.url);
  model.script("env", async function* ({ step }) {
    yield step === 0 ? { tool: "bash", input: { command: "env" } } : { text: "done" };
  });
  const conversation = await openConversation(caller);
  const stream = await conversation.send("[script:env]");
  await stream.ended;
  expect(stream.isDone).toBe(true);
  const answer = JSON.stringify(await conversation.answer());
  expect(answer).toContain("HOME=");
  expect(answer).not.toContain(settings.HTTP_PROXY);
  expect(systemEnvironment.HTTP_PROXY).not.toBe(settings.HTTP_PROXY);
  server.child.kill("SIGTERM");
  await server.ended;
  proxy.close();
  await model.close();
  expect([...asked]).toEqual(["models.example.com:80"]);
});

describe("refused with the reason and the remedy, by doctor and at a start", () => {
  const cases: [name: string, names: string, target: () => string, says: RegExp][] = [
    [
      "a certificate for the name, by the address",
      "DNS:localhost",
      () => verified("127.0.0.1"),
      /for another host/,
    ],
    [
      "a certificate for the address, by the name",
      "IP:127.0.0.1",
      () => verified("localhost"),
      /for another host/,
    ],
    [
      "a certificate for another name",
      "DNS:other.example.com",
      () => verified("localhost"),
      /for another host/,
    ],
    [
      "a certificate of another CA",
      "DNS:localhost",
      () => verified("localhost", at("other-ca.pem")),
      /not from a trusted CA/,
    ],
    [
      "a certificate of a CA that is not known",
      "DNS:localhost",
      () => url("localhost", "?sslmode=verify-full"),
      /not from a trusted CA.*NODE_EXTRA_CA_CERTS/s,
    ],
    [
      "the same with a weaker mode of libpq",
      "DNS:localhost",
      () => url("localhost", "?sslmode=require"),
      /not from a trusted CA/,
    ],
    [
      "a file that is not there",
      "DNS:localhost",
      () => verified("localhost", at("missing.pem")),
      /sslrootcert.*ENOENT/,
    ],
  ];
  it.each(cases)("%s", async (_, names, target, says) => {
    await present(names);
    const [finding] = await doctor(target());
    expect(finding).toMatchObject({ status: "failed", blocksStart: true });
    expect(`${finding?.detail}. ${finding?.remedy}`).toMatch(says);
    await expect(
      whenAvailable(() => requireMigrations({ DATABASE_URL: target() })),
    ).rejects.toThrow(says);
  });

  it("no TLS where PostgreSQL demands it, and TLS where it has none", async () => {
    await present("DNS:localhost");
    const file = at(join("postgres", "pg_hba.conf"));
    const rules = readFileSync(file, "utf8");
    writeFileSync(file, rules.replace(/^host /gm, "hostssl "));
    await admin`select pg_reload_conf()`;
    await expect
      .poll(async () => (await doctor(url("localhost", "")))[0]?.remedy)
      .toContain("Add `sslmode=verify-full`");
    expect(await doctor(verified("localhost"))).toMatchObject([{ status: "ok" }]);
    writeFileSync(file, rules);
    await admin.unsafe("alter system set ssl = off");
    await admin`select pg_reload_conf()`;
    await expect
      .poll(async () => (await doctor(verified("localhost")))[0]?.detail)
      .toContain("it has no TLS");
  });
});
