/** The part of Composio's HTTP API (v3.1) that the adapter calls, on loopback. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";

/** What every answer is from now on: a whole response, a body cut in the middle, or nothing. */
export type Fault =
  | { readonly status: number; readonly body: string }
  | "cut"
  | "silence"
  /** The headers are sent, and nothing else. */
  | "stalled body"
  | "hang-up"
  | null;

export interface FakeComposio {
  readonly url: string;
  /** @param at only where the address has this in it */
  fail(fault: Fault, at?: string): void;
  /** How many requests have come in. */
  requests(): number;
  /** Puts a connection into the account, or anything else into what it lists. */
  add(userId: string, item: object): void;
  /** Makes the list ignore whom it was asked for. */
  mixUp(): void;
  close(): void;
}

export const COMPOSIO_KEY = "composio-test-key";
const TOOLKITS = ["gmail", "slack", "notion"];

const sessionBody = z.object({
  user_id: z.string(),
  toolkits: z.object({ enable: z.array(z.string()) }),
});
const linkBody = z.object({ toolkit: z.string(), callback_url: z.url() });

export async function startFakeComposio(): Promise<FakeComposio> {
  const sessions = new Map<string, string>();
  const links = new Map<string, { item: Record<string, unknown>; callback: string }>();
  const accounts: { userId: string; item: object }[] = [];
  let failing: { readonly fault: Fault; readonly at: string } = { fault: null, at: "" };
  let mixed = false;
  let requests = 0;

  const send = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const refuse = (response: ServerResponse, status: number, slug: string): void =>
    send(response, status, { error: { message: `Composio: ${slug}`, slug, status } });

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", url);
    const link = links.get(pathname);
    if (link) {
      link.item.status = "ACTIVE";
      const target = new URL(link.callback);
      target.searchParams.set("status", "success");
      target.searchParams.set("connected_account_id", String(link.item.id));
      return void response.writeHead(302, { location: target.href }).end();
    }
    requests++;
    const body = await text(request);
    const fault = request.url?.includes(failing.at) ? failing.fault : null;
    if (fault === "silence") return;
    if (fault === "hang-up") return void request.socket.destroy();
    if (fault === "cut" || fault === "stalled body") {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"session_id": "trs_');
      return void (fault === "cut" && response.socket?.end());
    }
    if (fault) return void response.writeHead(fault.status, { "retry-after": "7" }).end(fault.body);
    if (request.headers["x-api-key"] !== COMPOSIO_KEY) {
      return refuse(response, 401, "ApiKey_Invalid");
    }

    const [, , , area, , id, action] = pathname.split("/");
    if (request.method === "GET" && area === "connected_accounts") {
      const wanted = searchParams.get("user_ids");
      const all = accounts.filter(({ userId }) => mixed || userId === wanted);
      // Two a page, so that whoever reads one page only is found out.
      const start = Number(searchParams.get("cursor") ?? 0);
      const items = all.slice(start, start + 2).map(({ item }) => item);
      const next = start + 2 < all.length ? String(start + 2) : null;
      return send(response, 200, { items, next_cursor: next, total_items: all.length });
    }
    if (area === "tool_router" && action === undefined) {
      const { user_id } = sessionBody.parse(JSON.parse(body));
      const session = `trs_${randomUUID()}`;
      sessions.set(session, user_id);
      return send(response, 201, { session_id: session, mcp: { url }, config: {} });
    }
    if (area === "tool_router" && action === "link") {
      const userId = sessions.get(id ?? "");
      if (userId === undefined) return refuse(response, 404, "ToolRouterV2_SessionNotFound");
      const { toolkit, callback_url } = linkBody.parse(JSON.parse(body));
      if (!TOOLKITS.includes(toolkit)) return refuse(response, 400, "Toolkit_ToolkitNotFound");
      const item = composioItem(userId, toolkit, "INITIATED");
      accounts.unshift({ userId, item });
      const path = `/link/${randomUUID()}`;
      links.set(path, { item, callback: callback_url });
      return send(response, 201, {
        link_token: path,
        redirect_url: url + path,
        connected_account_id: item.id,
      });
    }
    refuse(response, 404, "Not_Found");
  }

  return {
    url,
    fail(fault, at = "") {
      failing = { fault, at };
    },
    requests: () => requests,
    add: (userId, item) => void accounts.unshift({ userId, item }),
    mixUp() {
      mixed = true;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** As the list shows one, with the credentials that it carries. */
export function composioItem(
  userId: string,
  toolkit: string,
  status: string,
): Record<string, unknown> {
  const at = new Date().toISOString();
  return {
    id: `ca_${randomUUID()}`,
    user_id: userId,
    status,
    toolkit: { slug: toolkit },
    created_at: at,
    updated_at: at,
    state: { authScheme: "OAUTH2", val: { access_token: "ya29.secret" } },
  };
}
