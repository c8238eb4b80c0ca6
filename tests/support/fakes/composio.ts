/** The part of Composio's HTTP API (v3.1) that the adapter calls, on loopback. This file is long because it has all of it. */
import { createHmac, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { queryOf, requireHeader, serveHandlers } from "./vendor-server.ts";

export type FakeComposio = Awaited<ReturnType<typeof startFakeComposio>>;

const KEY = "composio-test-key";
/** In base64 like a key of Standard Webhooks, which would sign another way. */
const WEBHOOK_SECRET = "whsec_Y29tcG9zaW8tdGVzdC1zZWNyZXQtb2YtZXZlbnRz";
const API = "/api/v3.1";
const TOOLKITS = ["gmail", "slack", "notion", "youtube", "dropbox", "github", "tiktok"];
const PAGE_SIZE = 2;
/** The largest page of triggers and of their types. */
const MAX_TRIGGER_PAGE = 50;

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
    tags: verb === "SEND" ? ["createHint"] : ["destructiveHint"],
    input_parameters: { type: "object", properties: { text: { type: "string" } } },
  }));
/** A project's types are those of all its toolkits, of which an adapter must keep its own apart. */
const typesOf = (toolkit: string) =>
  ["NEW_MESSAGE", "DELETED"].map((verb) => ({
    slug: `${toolkit.toUpperCase()}_${verb}`,
    name: verb,
    description: `${verb} at ${toolkit}`,
    type: "webhook",
    toolkit: { slug: toolkit, name: toolkit },
    config: { type: "object", properties: { label: { type: "string" } } },
  }));
const upsertBody = z.object({
  connected_account_id: z.string(),
  trigger_config: z.record(z.string(), z.unknown()),
});
interface Instance {
  readonly id: string;
  readonly user_id: string;
  readonly connected_account_id: string;
  readonly trigger_name: string;
  readonly trigger_config: object;
}
const linkBody = z.object({ toolkit: z.string(), callback_url: z.url() });

export async function startFakeComposio() {
  const sessions = new Map<string, string>();
  const links = new Map<string, { item: ReturnType<typeof composioItem>; callback: string }>();
  const accounts: { userId: string; item: object }[] = [];
  const executions: (z.output<typeof executeBody> & { tool: string })[] = [];
  const instances: Instance[] = [];
  /** How lists treat the filter by user, and whether their items say whose they are. */
  let lists: {
    readonly userFilter: "applied" | "ignored" | "refused";
    readonly hasUsers: boolean;
  } = { userFilter: "applied", hasUsers: true };
  const shown = (item: object) => {
    const { user_id: _, ...anonymous } = { user_id: undefined, ...item };
    return lists.hasUsers ? item : anonymous;
  };
  const isWanted = (user: string | undefined, userId: string) =>
    user === undefined || lists.userFilter === "ignored" || user === userId;
  const disabled = new Set<string>();

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
      if (user_ids && lists.userFilter === "refused") return refuse(400, "InvalidRequest");
      const all = accounts.filter(({ userId }) => isWanted(user_ids, userId));
      // Short pages, so that an adapter that reads only the first one fails its tests.
      const start = Number(cursor ?? 0);
      const end = start + PAGE_SIZE;
      return HttpResponse.json({
        items: all.slice(start, end).map(({ item }) => shown(item)),
        next_cursor: end < all.length ? String(end) : null,
        total_items: all.length,
      });
    }),
    http.get<{ id: string }>(`${API}/connected_accounts/:id`, ({ params }) => {
      const found = accounts.find(({ item }) => "id" in item && item.id === params.id);
      return found
        ? HttpResponse.json(shown(found.item))
        : refuse(404, "ConnectedAccount_NotFound");
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
      if ("unknown_field" in body.arguments) {
        const message = "Invalid request data provided: unknown_field is not a field";
        const error = { message, slug: "ToolRouterV2_InvalidInput", status: 400 };
        return HttpResponse.json({ error }, { status: 400 });
      }
      executions.push({ tool: params.slug, ...body });
      const isRefused = params.slug.endsWith("_FAIL");
      return HttpResponse.json({
        successful: !isRefused,
        data: isRefused ? {} : { echoed: body.arguments },
        error: isRefused ? "The service refused it" : null,
        log_id: "log_1",
      });
    }),
    http.get(`${API}/triggers_types`, ({ request }) => {
      const { toolkit_slugs: toolkit = "", limit, cursor } = queryOf(request);
      if (Number(limit) > MAX_TRIGGER_PAGE) return refuse(400, "InvalidRequest");
      if (!TOOLKITS.includes(toolkit)) return refuse(404, "Toolkit_ToolkitNotFound");
      const all = typesOf(toolkit);
      const end = Number(cursor ?? 0) + Number(limit);
      return HttpResponse.json({
        items: all.slice(Number(cursor ?? 0), end),
        next_cursor: end < all.length ? String(end) : null,
      });
    }),
    http.get<{ slug: string }>(`${API}/triggers_types/:slug`, ({ params }) => {
      const type = TOOLKITS.flatMap(typesOf).find(({ slug }) => slug === params.slug);
      return type ? HttpResponse.json(type) : refuse(404, "TriggerType_NotFound");
    }),
    http.post<{ slug: string }>(
      `${API}/trigger_instances/:slug/upsert`,
      async ({ request, params }) => {
        const body = upsertBody.parse(await request.json());
        const account = accounts.find(
          ({ item }) => "id" in item && item.id === body.connected_account_id,
        );
        if (!account) return refuse(404, "ConnectedAccount_NotFound");
        if (Object.keys(body.trigger_config).some((name) => name !== "label")) {
          return refuse(400, "TriggerConfig_Invalid");
        }
        const made = { ...body, trigger_name: params.slug, user_id: account.userId };
        // An equal configuration returns the same instance.
        const known = instances.find(({ id: _, ...one }) => isDeepStrictEqual(one, made));
        const instance = known ?? { id: `ti_${randomUUID()}`, ...made };
        if (!known) instances.push(instance);
        return HttpResponse.json({ trigger_id: instance.id, deprecated: { uuid: randomUUID() } });
      },
    ),
    http.get(`${API}/trigger_instances/active`, ({ request }) => {
      const { user_ids, connected_account_ids, show_disabled, cursor } = queryOf(request);
      if (user_ids && lists.userFilter === "refused") return refuse(400, "InvalidRequest");
      const all = instances.filter(
        (one) =>
          isWanted(user_ids, one.user_id) &&
          (connected_account_ids ?? one.connected_account_id) === one.connected_account_id &&
          (show_disabled === "true" || !disabled.has(one.id)),
      );
      const end = Number(cursor ?? 0) + PAGE_SIZE;
      return HttpResponse.json({
        items: all.slice(Number(cursor ?? 0), end).map(shown),
        next_cursor: end < all.length ? String(end) : null,
      });
    }),
    http.delete<{ id: string }>(`${API}/trigger_instances/manage/:id`, ({ params }) => {
      const index = instances.findIndex(({ id }) => id === params.id);
      if (index < 0) return refuse(404, "TriggerInstance_NotFound");
      instances.splice(index, 1);
      return HttpResponse.json({ trigger_id: params.id });
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
    env: {
      COMPOSIO_API_KEY: KEY,
      COMPOSIO_BASE_URL: server.origin,
      COMPOSIO_WEBHOOK_SECRET: WEBHOOK_SECRET,
    },
    /** The subscriptions of a user. */
    instancesOf: (userId: string) => instances.filter((one) => one.user_id === userId),
    /** Sends an event of a subscription to a server. @param changes of the payload's metadata, or of the headers */
    send(
      url: string,
      { id, user_id, connected_account_id, trigger_name }: Instance,
      changes: { readonly metadata?: object; readonly headers?: Record<string, string> } = {},
    ): Promise<Response> {
      const metadata = {
        ...{ log_id: "log_1", trigger_slug: trigger_name, trigger_id: id },
        ...{ connected_account_id, auth_config_id: "ac_1", user_id, ...changes.metadata },
      };
      const data = { subject: "Harbour Lights" };
      return fetch(
        signed(url, { type: "composio.trigger.message", metadata, data }, changes.headers),
      );
    },
    /** Disables a subscription by itself. Returns what it sends to a server. */
    disable(url: string, { trigger_config: _, ...instance }: Instance, changes: object = {}) {
      disabled.add(instance.id);
      const data = { ...instance, disabled_reason: "connection_expired", ...changes };
      return signed(url, { type: "composio.trigger.disabled", metadata: project, data });
    },
    /** Returns what it sends to a server when a connection has expired: it does not say whose it is. */
    expire(url: string, { id, toolkit }: { readonly id: string; readonly toolkit: object }) {
      const data = { id, toolkit, status: "EXPIRED", status_reason: "OAuth refresh token expired" };
      return signed(url, { type: "composio.connected_account.expired", metadata: project, data });
    },
    /** Adds a connection, or an item of any shape, to a user's list. */
    add: (userId: string, item: object) => void accounts.unshift({ userId, item }),
    /** The actions that were run, oldest first. */
    executions,
    /** Changes how lists treat the filter by user, and whether items have one. */
    changeLists(changes: Partial<typeof lists>) {
      lists = { ...lists, ...changes };
    },
  };
}

const project = { project_id: "pr_1", org_id: "ok_1" };

/** Returns a signed message to a server. */
function signed(url: string, message: object, headers: Record<string, string> = {}): Request {
  const id = headers["webhook-id"] ?? `msg_${randomUUID()}`;
  const time = String(Math.floor(Date.now() / 1_000));
  const body = JSON.stringify({ id, timestamp: new Date().toISOString(), ...message });
  const signature = createHmac("sha256", WEBHOOK_SECRET).update(`${id}.${time}.${body}`);
  return new Request(`${url}/api/triggers/composio`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", "webhook-id": id, "webhook-timestamp": time },
      "webhook-signature": `v1,${signature.digest("base64")}`,
      ...headers,
    },
    body,
  });
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
