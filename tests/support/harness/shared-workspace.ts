/** The shared database and sandbox folder as a workspace with a scripted model: for tests that kill no server. */
import { inject } from "vitest";
import type { SharedServer } from "../fakes/model-router.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../fakes/openai.ts";
import { type Client, createPerson } from "./clients.ts";
import { startServer } from "./server.ts";
import { servers } from "./servers.ts";
import { sql, stack } from "./stack.ts";
import { readHomeFile, type Workspace } from "./workspace.ts";

export type SharedWorkspace = Pick<
  Workspace,
  "env" | "model" | "sql" | "createCaller" | "readSandboxFile" | "stop"
> & { readonly server: { readonly url: string } };

/** Has the server with scripted models that files share follow the scripts of this model, too. */
export async function joinServer(model: FakeOpenAI): Promise<SharedServer> {
  const joined = { method: "POST", body: model.origin };
  const server: SharedServer = await (await fetch(`${inject("models")}/files`, joined)).json();
  servers.add(server.url);
  return server;
}

/** What the server with scripted models that files share has logged. */
export const sharedLogs = async (): Promise<string> =>
  (await fetch(`${inject("models")}/logs`)).text();

/**
 * @param env settings for a server of its own, which `stop` ends; without them, the server is the one with
 * scripted models that files share: then the names of scripts are unique among all files.
 */
export async function joinWorkspace(
  env?: Readonly<Record<string, string>>,
): Promise<SharedWorkspace> {
  const model = await startFakeOpenAI();
  const own = env && (await startServer({ env: { OPENAI_BASE_URL: model.url, ...env } }));
  const server = own ?? (await joinServer(model));
  return {
    env: stack.env,
    model,
    sql,
    server,
    createCaller: async (url = server.url): Promise<Client> => (await createPerson(url)).withKey,
    readSandboxFile: (sessionId, path) => readHomeFile(stack.env, sessionId, path),
    stop: async () => {
      await model.close();
      await own?.stop();
    },
  };
}
