/**
 * The model of the servers that test files share: it hands a call whose newest user text names a script
 * to the file that has this script, and follows the built-in scripts for all others.
 */
import { HttpResponse, http } from "msw";
import { scriptIn, startFakeOpenAI } from "./openai.ts";
import { serveHandlers } from "./vendor-server.ts";

export interface SharedServer {
  readonly url: string;
  readonly port: number;
}

interface LoggingServer extends SharedServer {
  logs(): string;
}

/** @param startServer is called when the first file joins the server of this name, with the address of the model */
export async function startModelRouter(
  startServer: (name: string, modelUrl: string) => Promise<LoggingServer>,
) {
  const builtIn = await startFakeOpenAI();
  /** Origins of the models of the files. */
  const files = new Set<string>();
  /** Called scripts and their models, including those of ended files. */
  const owners = new Map<string, string>();
  const servers = new Map<string, Promise<LoggingServer>>();

  /**
   * Returns who follows a script. The model of a file that has ended refuses connections.
   * @throws Error if two files have a script of this name, even if they do not run at the same time
   */
  const ownerOf = async (script: string): Promise<string> => {
    for (const origin of files) {
      const response = await fetch(`${origin}/scripts/${script}`).catch(() => files.delete(origin));
      if (!(response instanceof Response && response.ok)) continue;
      const owner = owners.get(script) ?? origin;
      if (owner !== origin) throw new Error(`Two test files have a script "${script}"`);
      owners.set(script, origin);
    }
    return owners.get(script) ?? builtIn.origin;
  };

  const router = await serveHandlers([
    http.post("/files/:server", async ({ request, params }) => {
      files.add(await request.text());
      const name = String(params.server);
      const server = servers.get(name) ?? startServer(name, `${router.origin}/v1`);
      servers.set(name, server);
      const { url, port } = await server;
      return HttpResponse.json({ url, port });
    }),
    http.get("/logs", async () => {
      const all = await Promise.all(servers.values());
      return HttpResponse.text(all.map((server) => server.logs()).join("\n"));
    }),
    http.get("/v1/models", () => fetch(`${builtIn.url}/models`)),
    http.post("/v1/chat/completions", async ({ request }) => {
      const body = await request.text();
      const script = scriptIn(JSON.parse(body));
      const origin = script === undefined ? builtIn.origin : await ownerOf(script);
      const { headers, signal } = request;
      const init = { method: "POST", headers, body, signal };
      // A connection that the model breaks is broken here, too.
      return fetch(`${origin}/v1/chat/completions`, init).catch(() => HttpResponse.error());
    }),
  ]);
  return {
    origin: router.origin,
    close: () => Promise.all([router.close(), builtIn.close()]),
  };
}
