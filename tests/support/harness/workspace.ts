/**
 * A database, a sandbox folder and a scripted model of their own, and servers on them: for tests
 * that kill servers, which must not have their runs taken over by the one that all tests share.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { newKey } from "../../../lib/identity/keys/key-format.ts";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../fakes/openai.ts";
import { registerSecret } from "../secrets/register.ts";
import { type Client, client } from "./clients.ts";
import { startServer } from "./server.ts";
import { startOwnParts } from "./stack.ts";

export interface Workspace {
  readonly env: Readonly<Record<string, string>>;
  readonly model: FakeOpenAI;
  readonly sql: Sql;
  /** The newest server. */
  readonly server: RunningNext;
  /** One more server on the same database and folder. */
  startServer(): Promise<RunningNext>;
  /** An account's API key. */
  createKey(): Promise<string>;
  /** Someone new, at the newest server unless `url` names another. */
  createCaller(url?: string): Promise<Client>;
  /** A file of a session's sandbox as it is on disk; empty when there is none. */
  readSandboxFile(sessionId: string, path: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startWorkspace(
  env: Readonly<Record<string, string>> = {},
): Promise<Workspace> {
  const parts = await startOwnParts();
  const model = await startFakeOpenAI();
  const sql = postgres(parts.env.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
  const servers: RunningNext[] = [];
  const start = async () => {
    const server = await startServer({
      env: {
        ...parts.env,
        OPENAI_BASE_URL: model.url,
        LOG_LEVEL: "info",
        CHECK_RESPONSES: "true",
        ...env,
      },
    });
    servers.push(server);
    return server;
  };
  const newest = () => {
    const server = servers.at(-1);
    if (!server) throw new Error("No server was started");
    return server;
  };
  const createAccountKey = async () => {
    const id = randomUUID();
    const { raw, hash, prefix } = newKey(parts.env.API_KEY_SECRET ?? "");
    await sql`insert into accounts (id, kind, email, is_admin)
      values (${id}, 'personal', ${`${id}@example.com`}, false)`;
    await sql`insert into api_keys (account_id, name, hash, prefix, scope)
      values (${id}, 'test', ${hash}, ${prefix}, 'full')`;
    return registerSecret(raw, "API key");
  };
  await start();
  return {
    env: parts.env,
    model,
    sql,
    get server() {
      return newest();
    },
    startServer: start,
    createKey: createAccountKey,
    createCaller: async (url = newest().url) => client({ key: await createAccountKey() }, url),
    readSandboxFile: (sessionId, path) =>
      readFile(join(parts.env.DATA_DIR ?? "", "sandboxes", sessionId, "home", path), "utf8").catch(
        () => "",
      ),
    stop: async () => {
      await model.close();
      await Promise.all(servers.map((server) => server.stop()));
      await sql.end();
      await parts.stop();
    },
  };
}

/** The same caller at another server. */
export const clientAt = (url: string, caller: Client): Client => {
  const key = caller.headers["x-api-key"];
  return client(key === undefined ? null : { key }, url);
};

/** Kills a server as a crash would, and waits until it is dead. */
export async function crash(server: RunningNext): Promise<void> {
  server.kill("SIGKILL");
  await server.died;
}
