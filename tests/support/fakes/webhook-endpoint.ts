/** An endpoint of webhooks on loopback with scripted responses. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { z } from "zod";

/** A status, the URL of a redirect, or silence until the client gives up. */
export type Behavior = number | { readonly redirect: string } | "silence";

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly event: z.output<typeof event>;
  /** The behavior of the endpoint for it. */
  readonly behavior: Behavior;
}

const event = z.strictObject({
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});

export type WebhookEndpoint = Awaited<ReturnType<typeof startWebhookEndpoint>>;

export async function startWebhookEndpoint() {
  const received: Received[] = [];
  const next: Behavior[] = [];
  let lasting: Behavior = 204;
  const server = createServer(async (incoming, outgoing) => {
    const body = await text(incoming);
    const behavior = next.shift() ?? lasting;
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    received.push({ headers, body, event: event.parse(JSON.parse(body)), behavior });
    behave(behavior, outgoing);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    /** The responses to the next requests, one each. */
    next: (...behaviors: readonly Behavior[]) => void next.push(...behaviors),
    /** The response to all others; 204 at first. */
    always(behavior: Behavior) {
      lasting = behavior;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function behave(behavior: Behavior, outgoing: ServerResponse): void {
  if (behavior === "silence") return;
  if (typeof behavior === "number") outgoing.writeHead(behavior);
  else outgoing.writeHead(302, { location: behavior.redirect });
  outgoing.end("the answer \0 of the endpoint");
}

/** Whether a request is signed with the secret, as a receiver would find out. */
export function isSignedWith({ body, headers }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
