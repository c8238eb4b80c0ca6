/**
 * A separate database, sandbox folder and scripted model, and servers on them: for tests that kill
 * servers, whose runs the shared server must not take over.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { newKey } from "../../../lib/identity/keys/key-format.ts";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { startFakeOpenAI } from "../fakes/openai.ts";
import { registerSecret } from "../secrets/register.ts";
import { type Client, client } from "./clients.ts";
import { type ServerOptions, startServer } from "./server.ts";
import { startOwnParts } from "./stack.ts";
import { openWorld, type World } from "./worlds.ts";

export type Workspace = Awaited<ReturnType<typeof startWorkspace>>;

type Environment = Readonly<Record<string, string>>;

/**
 * @param env additional variables of the servers, or a function that makes them for each new one
 * from the settings of the parts
 * @param world the World that runs the turns; without one, the engine of this project
 * @param options for the first server
 */
export async function startWorkspace(
  env: Environment | ((parts: Environment) => Promise<Environment>) = {},
  world?: World,
  options?: ServerOptions,
) {
  const parts = await startOwnParts();
  const { DATABASE_URL = "", DATA_DIR = "" } = parts.env;
  const ofWorld = world && {
    ...(await world.prepare(DATABASE_URL, DATA_DIR)),
    WORKFLOW_TARGET_WORLD: world.name,
  };
  const closeWorld = ofWorld && openWorld(ofWorld);
  const model = await startFakeOpenAI();
  const sql = postgres(parts.env.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
  const servers: RunningNext[] = [];
  const running = new Set<RunningNext>();
  const start = async (options: ServerOptions = {}) => {
    const defaults = { OPENAI_BASE_URL: model.url, LOG_LEVEL: "info", CHECK_RESPONSES: "true" };
    const given = typeof env === "function" ? await env(parts.env) : env;
    const settings = { ...parts.env, ...defaults, ...ofWorld, ...given, ...options.env };
    const server = await startServer({ ...options, env: settings });
    servers.push(server);
    running.add(server);
    void server.died.then(() => running.delete(server));
    return server;
  };
  const createAccount = async () => {
    const id = randomUUID();
    const { raw, hash, prefix } = newKey(parts.env.API_KEY_SECRET ?? "");
    await sql`insert into accounts (id, kind, email, is_admin)
      values (${id}, 'personal', ${`${id}@example.com`}, false)`;
    await sql`insert into api_keys (account_id, name, hash, prefix, scope)
      values (${id}, 'test', ${hash}, ${prefix}, 'full')`;
    return { id, key: registerSecret(raw, "API key") };
  };
  const createKey = async () => (await createAccount()).key;
  const first = await start(options);
  return {
    world,
    env: parts.env,
    model,
    sql,
    /** The newest server. */
    get server() {
      return servers.at(-1) ?? first;
    },
    /** Leaves so many servers running, and returns them: the newest, and further ones if they are too few. */
    async keepServers(count: number) {
      for (const server of [...running].slice(0, -count)) {
        await server.stop();
        running.delete(server);
      }
      while (running.size < count) await start();
      return [...running];
    },
    /** Starts one more server on the same database and folder. */
    startServer: start,
    /** Creates an account and returns its API key. */
    createKey,
    /** Creates an account with a client of a server. */
    async createPerson(url: string) {
      const { id, key } = await createAccount();
      return { id, caller: client({ key }, url) };
    },
    /** Creates an account with a client of the newest server, unless `url` names another. */
    async createCaller(url?: string): Promise<Client> {
      return client({ key: await createKey() }, url ?? this.server.url);
    },
    /** Returns a file of a session's sandbox as it is on disk; empty when there is none. */
    readSandboxFile: (sessionId: string, path: string) => readHomeFile(parts.env, sessionId, path),
    stop: async () => {
      await model.close();
      await Promise.all(servers.map((server) => server.stop()));
      await sql.end();
      await closeWorld?.();
      await parts.stop();
    },
  };
}

/** Returns a file of a session's sandbox as it is on disk; empty when there is none. */
export const readHomeFile = (
  { DATA_DIR = "" }: Environment,
  sessionId: string,
  path: string,
): Promise<string> =>
  readFile(join(DATA_DIR, "sandboxes", sessionId, "home", path), "utf8").catch(() => "");

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
