/** The shared database and sandbox folder as a workspace with a scripted model: for tests that kill no server. */
import { inject } from "vitest";
import type { SharedServer } from "../fakes/model-router.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../fakes/openai.ts";
import { type Client, createPerson } from "./clients.ts";
import { servers } from "./servers.ts";
import { sql, stack } from "./stack.ts";
import { readHomeFile, type Workspace } from "./workspace.ts";

type ServerName = "plain" | "priced" | "profiles";

export type SharedWorkspace = Pick<
  Workspace,
  "env" | "model" | "sql" | "createCaller" | "readSandboxFile" | "stop"
> & { readonly server: { readonly url: string } };

/** Has a server with scripted models that files share follow the scripts of this model, too. */
export async function joinServer(
  model: FakeOpenAI,
  name: ServerName = "plain",
): Promise<SharedServer> {
  const joined = { method: "POST", body: model.origin };
  const path = `/files/${name}`;
  const server: SharedServer = await (await fetch(`${inject("models")}${path}`, joined)).json();
  servers.add(server.url);
  return server;
}

/** The logs of the shared servers with scripted models. */
export const sharedLogs = async (): Promise<string> =>
  (await fetch(`${inject("models")}/logs`)).text();

/** @param name which of the servers with scripted models: the names of scripts are unique among all files */
export async function joinWorkspace(name: ServerName = "plain"): Promise<SharedWorkspace> {
  const model = await startFakeOpenAI();
  const server = await joinServer(model, name);
  return {
    env: stack.env,
    model,
    sql,
    server,
    createCaller: async (url = server.url): Promise<Client> => (await createPerson(url)).withKey,
    readSandboxFile: (sessionId, path) => readHomeFile(stack.env, sessionId, path),
    stop: async () => void (await model.close()),
  };
}
