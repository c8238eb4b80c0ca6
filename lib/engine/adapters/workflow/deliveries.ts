/**
 * Where a World delivers the Workflow SDK's messages.
 *
 * Worlds that run in this process post each message to the process's own routes, by HTTP and without a
 * credential: any client that reaches the routes could start runs. Here they post to a server of this
 * process on the machine's loopback that takes only connections which the process itself has opened, and
 * the routes answer 404. The way is shorter, too: it does not lead through Next.
 */
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { type AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createAdaptorServer } from "@hono/node-server";
import { getQueuePrefixKind, type World } from "@workflow/world";
import { loadRoute } from "../sdk.ts";

type Kind = ReturnType<typeof getQueuePrefixKind>;
type Deliver = (request: Request) => Promise<Response>;

const routes = { workflow: "flow", step: "step" } as const satisfies Record<Kind, string>;
const RETRY_MS = 100;

export interface DeliveriesOptions {
  /** The origin at which this server can call its own routes. */
  readonly selfOrigin: string;
  /** Whether to reload route modules every time, because they change in development. */
  readonly reloadHandlers: boolean;
}

export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #handlers = new Map<Kind, Deliver>();
  /** The local ports of this process's connections to the server. */
  readonly #ownPorts = new Set<number>();

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Starts the server and resolves with the variables by which Worlds find it: one or the other. */
  async listen(): Promise<Readonly<Record<string, string>>> {
    const server = createAdaptorServer({
      overrideGlobalObjects: false,
      fetch: (request, { incoming }) =>
        this.#ownPorts.has(incoming.socket?.remotePort ?? -1)
          ? this.#deliver(request)
          : new Response(null, { status: 404 }),
    });
    // A World keeps its connections open for longer than the default.
    if ("keepAliveTimeout" in server) server.keepAliveTimeout = 0;
    server.listen(0, "127.0.0.1").unref();
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    this.#noteConnectionsTo(port);
    return { WORKFLOW_LOCAL_BASE_URL: `http://127.0.0.1:${port}`, PORT: String(port) };
  }

  /** Takes over the messages of a World. Its routes answer 404 from now on. */
  serve(world: World): void {
    const createQueueHandler = world.createQueueHandler.bind(world);
    world.createQueueHandler = (prefix, handler) => {
      this.#handlers.set(getQueuePrefixKind(prefix), createQueueHandler(prefix, handler));
      return async () => new Response(null, { status: 404 });
    };
  }

  /** Loads the modules of both routes ahead of the first turn, as soon as the server listens. */
  async preload(): Promise<void> {
    await Promise.all([this.#handlerOf("workflow"), this.#handlerOf("step")]);
  }

  #noteConnectionsTo(port: number): void {
    subscribe("net.client.socket", (message) => {
      const { socket } = message as { readonly socket: unknown };
      if (!(socket instanceof Socket)) return;
      socket.once("connect", () => {
        const { localPort, remotePort } = socket;
        if (remotePort !== port || localPort === undefined) return;
        this.#ownPorts.add(localPort);
        socket.once("close", () => this.#ownPorts.delete(localPort));
      });
    });
  }

  async #deliver(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const kind = pathname.endsWith("/step") ? "step" : "workflow";
    if (request.method !== "POST" || !pathname.endsWith(`/${routes[kind]}`)) {
      return new Response(null, { status: 404 });
    }
    return (await this.#handlerOf(kind))(request);
  }

  async #handlerOf(kind: Kind): Promise<Deliver> {
    for (;;) {
      const known = this.#handlers.get(kind);
      if (known && !this.#options.reloadHandlers) return known;
      try {
        await loadRoute(this.#options.selfOrigin, routes[kind]);
        const loaded = this.#handlers.get(kind);
        if (loaded) return loaded;
      } catch {
        // The server does not listen yet.
      }
      await delay(RETRY_MS, undefined, { ref: false });
    }
  }
}
