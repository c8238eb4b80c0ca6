/** The part of Composio's HTTP API (v3.1) that the adapter calls, on loopback. */
import { randomUUID } from "node:crypto";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { queryOf, requireHeader, serveHandlers } from "./vendor-server.ts";

export type FakeComposio = Awaited<ReturnType<typeof startFakeComposio>>;

const KEY = "composio-test-key";
const API = "/api/v3.1";
const TOOLKITS = ["gmail", "slack", "notion", "youtube", "dropbox", "github", "tiktok"];
const PAGE_SIZE = 2;

const sessionBody = z.object({
  user_id: z.string(),
  toolkits: z.object({ enable: z.array(z.string()) }),
});
const executeBody = z.object({
  user_id: z.string(),
  connected_account_id: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});
const toolsOf = (toolkit: string) =>
  ["SEND", "FAIL"].map((verb) => ({
    slug: `${toolkit.toUpperCase()}_${verb}`,
    name: verb,
    description: `${verb} something by ${toolkit}`,
    toolkit: { slug: toolkit, name: toolkit },
    input_parameters: { type: "object", properties: { text: { type: "string" } } },
  }));
const linkBody = z.object({ toolkit: z.string(), callback_url: z.url() });

export async function startFakeComposio() {
  const sessions = new Map<string, string>();
  const links = new Map<string, { item: ReturnType<typeof composioItem>; callback: string }>();
  const accounts: { userId: string; item: object }[] = [];
  const executions: (z.output<typeof executeBody> & { tool: string })[] = [];
  let isUserFilterIgnored = false;

  const server = await serveHandlers([
    http.get<{ token: string }>("/consent/:token", ({ params }) => {
      const link = links.get(params.token);
      if (!link) return;
      link.item.status = "ACTIVE";
      const target = new URL(link.callback);
      target.searchParams.set("status", "success");
      target.searchParams.set("connected_account_id", link.item.id);
      return HttpResponse.redirect(target, 302);
    }),
    requireHeader("x-api-key", KEY, () => refuse(401, "ApiKey_Invalid")),
    http.get(`${API}/connected_accounts`, ({ request }) => {
      const { user_ids, cursor } = queryOf(request);
      const all = accounts.filter(({ userId }) => isUserFilterIgnored || userId === user_ids);
      // Short pages, so that an adapter that reads only the first one fails its tests.
      const start = Number(cursor ?? 0);
      const end = start + PAGE_SIZE;
      return HttpResponse.json({
        items: all.slice(start, end).map(({ item }) => item),
        next_cursor: end < all.length ? String(end) : null,
        total_items: all.length,
      });
    }),
    http.delete<{ id: string }>(`${API}/connected_accounts/:id`, ({ params }) => {
      const index = accounts.findIndex(({ item }) => "id" in item && item.id === params.id);
      if (index < 0) return refuse(404, "ConnectedAccount_NotFound");
      accounts.splice(index, 1);
      return HttpResponse.json({ success: true });
    }),
    http.get(`${API}/tools`, ({ request }) => {
      const { toolkit_slug: toolkit = "", limit, cursor } = queryOf(request);
      if (!TOOLKITS.includes(toolkit)) return refuse(404, "Toolkit_ToolkitNotFound");
      const all = toolsOf(toolkit);
      const end = Number(cursor ?? 0) + Number(limit);
      return HttpResponse.json({
        items: all.slice(Number(cursor ?? 0), end),
        next_cursor: end < all.length ? String(end) : null,
      });
    }),
    http.get<{ slug: string }>(`${API}/tools/:slug`, ({ params }) => {
      const tool = TOOLKITS.flatMap(toolsOf).find(({ slug }) => slug === params.slug);
      return tool ? HttpResponse.json(tool) : refuse(404, "Tool_ToolNotFound");
    }),
    http.post<{ slug: string }>(`${API}/tools/execute/:slug`, async ({ request, params }) => {
      const body = executeBody.parse(await request.json());
      const isTheirs = accounts.some(
        ({ userId, item }) =>
          userId === body.user_id && "id" in item && item.id === body.connected_account_id,
      );
      if (!isTheirs) return refuse(400, "ConnectedAccount_NotFound");
      executions.push({ tool: params.slug, ...body });
      const isRefused = params.slug.endsWith("_FAIL");
      return HttpResponse.json({
        successful: !isRefused,
        data: isRefused ? {} : { echoed: body.arguments },
        error: isRefused ? "The service refused it" : null,
        log_id: "log_1",
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
        const redirect_url = new URL(`/consent/${token}`, request.url).href;
        const link = { link_token: token, redirect_url, connected_account_id: item.id };
        return HttpResponse.json(link, { status: 201 });
      },
    ),
  ]);

  return {
    ...server,
    /** The settings that make a server of the product use this API. */
    env: { COMPOSIO_API_KEY: KEY, COMPOSIO_BASE_URL: server.origin },
    /** Adds a connection, or an item of any shape, to a user's list. */
    add: (userId: string, item: object) => void accounts.unshift({ userId, item }),
    /** The actions that were run, oldest first. */
    executions,
    /** Makes the list return every user's connections. */
    ignoreUserFilter() {
      isUserFilterIgnored = true;
    },
  };
}

const refuse = (status: number, slug: string) =>
  HttpResponse.json({ error: { message: `Composio: ${slug}`, slug, status } }, { status });

/** Returns a connection as the list shows it, with the credentials that it carries. */
export function composioItem(userId: string, toolkit: string, status: string) {
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
