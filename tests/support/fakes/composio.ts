/** The part of Composio's HTTP API (v3.1) that the adapter calls, on loopback. */
import { randomUUID } from "node:crypto";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { serveHandlers, type VendorServer } from "./vendor-server.ts";

export interface FakeComposio extends VendorServer {
  /** The settings that make a server of the product use this API. */
  readonly env: Record<string, string>;
  /** Adds a connection, or an item of any shape, to what a user's list has. */
  add(userId: string, item: object): void;
  /** Makes the list return every user's connections. */
  ignoreUserFilter(): void;
}

const KEY = "composio-test-key";
const API = "/api/v3.1";
const TOOLKITS = ["gmail", "slack", "notion"];
const PAGE_SIZE = 2;

const sessionBody = z.object({
  user_id: z.string(),
  toolkits: z.object({ enable: z.array(z.string()) }),
});
const linkBody = z.object({ toolkit: z.string(), callback_url: z.url() });

export async function startFakeComposio(): Promise<FakeComposio> {
  const sessions = new Map<string, string>();
  const links = new Map<string, { item: Record<string, unknown>; callback: string }>();
  const accounts: { userId: string; item: object }[] = [];
  let isUserFilterIgnored = false;

  const server = await serveHandlers([
    http.get<{ token: string }>("/consent/:token", ({ params }) => {
      const link = links.get(params.token);
      if (!link) return;
      link.item.status = "ACTIVE";
      const target = new URL(link.callback);
      target.searchParams.set("status", "success");
      target.searchParams.set("connected_account_id", String(link.item.id));
      return HttpResponse.redirect(target, 302);
    }),
    http.all("*", ({ request }) => {
      if (request.headers.get("x-api-key") !== KEY) return refuse(401, "ApiKey_Invalid");
    }),
    http.get(`${API}/connected_accounts`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      const wanted = query.get("user_ids");
      const all = accounts.filter(({ userId }) => isUserFilterIgnored || userId === wanted);
      // Short pages, so that an adapter that reads only the first one fails its tests.
      const start = Number(query.get("cursor") ?? 0);
      const end = start + PAGE_SIZE;
      return HttpResponse.json({
        items: all.slice(start, end).map(({ item }) => item),
        next_cursor: end < all.length ? String(end) : null,
        total_items: all.length,
      });
    }),
    http.post(`${API}/tool_router/session`, async ({ request }) => {
      const { user_id } = sessionBody.parse(await request.json());
      const session = `trs_${randomUUID()}`;
      sessions.set(session, user_id);
      const mcp = { url: new URL(request.url).origin };
      return HttpResponse.json({ session_id: session, mcp, config: {} }, { status: 201 });
    }),
    http.post<{ id: string }>(
      `${API}/tool_router/session/:id/link`,
      async ({ request, params }) => {
        const userId = sessions.get(params.id);
        if (userId === undefined) return refuse(404, "ToolRouterV2_SessionNotFound");
        const { toolkit, callback_url } = linkBody.parse(await request.json());
        if (!TOOLKITS.includes(toolkit)) return refuse(400, "Toolkit_ToolkitNotFound");
        const item = composioItem(userId, toolkit, "INITIATED");
        accounts.unshift({ userId, item });
        const token = randomUUID();
        links.set(token, { item, callback: callback_url });
        return HttpResponse.json(
          {
            link_token: token,
            redirect_url: new URL(`/consent/${token}`, request.url).href,
            connected_account_id: item.id,
          },
          { status: 201 },
        );
      },
    ),
  ]);

  return {
    ...server,
    env: { COMPOSIO_API_KEY: KEY, COMPOSIO_BASE_URL: server.origin },
    add: (userId, item) => void accounts.unshift({ userId, item }),
    ignoreUserFilter() {
      isUserFilterIgnored = true;
    },
  };
}

const refuse = (status: number, slug: string) =>
  HttpResponse.json({ error: { message: `Composio: ${slug}`, slug, status } }, { status });

/** Returns a connection as the list shows it, with the credentials that it carries. */
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
