/** The part of Composio's HTTP API (v3.1) that the adapter calls, on loopback. This file is long because it has all of it. */
import { createHmac, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { SessionCreateResponse, SessionLinkResponse } from "@composio/client";
import type {
  ConnectedAccountDeleteResponse,
  ConnectedAccountListResponse,
} from "@composio/client/resources/connected-accounts";
import type { ToolExecuteResponse, ToolListResponse } from "@composio/client/resources/tools";
import type {
  TriggerInstanceListActiveResponse,
  TriggerInstanceUpsertResponse,
} from "@composio/client/resources/trigger-instances";
import type { TriggersTypeListResponse } from "@composio/client/resources/triggers-types";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import {
  composioItem,
  describeInstance,
  type Instance,
  pageOf,
  toolsOf,
  typesOf,
} from "./composio-answers.ts";
import { queryOf, requireHeader, servePublished } from "./vendor-server.ts";

export type FakeComposio = Awaited<ReturnType<typeof startFakeComposio>>;

const KEY = "composio-test-key";
/** In base64 like a key of Standard Webhooks, which would sign another way. */
const WEBHOOK_SECRET = "whsec_Y29tcG9zaW8tdGVzdC1zZWNyZXQtb2YtZXZlbnRz";
const API = "/api/v3.1";
const TOOLKITS = ["gmail", "slack", "notion", "youtube", "dropbox", "github", "tiktok"];
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
const upsertBody = z.object({
  connected_account_id: z.string(),
  trigger_config: z.record(z.string(), z.unknown()),
});
const linkBody = z.object({ toolkit: z.string(), callback_url: z.url() });

export async function startFakeComposio() {
  const sessions = new Map<string, string>();
  const links = new Map<string, { item: ReturnType<typeof composioItem>; callback: string }>();
  const accounts: { userId: string; item: object }[] = [];
  /** Items as no document has them. */
  const odd: object[] = [];
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

  const withoutOdd = (answer: unknown): unknown => {
    const { data } = z.looseObject({ items: z.array(z.unknown()) }).safeParse(answer);
    const isOdd = (item: unknown) => odd.some((one) => isDeepStrictEqual(one, item));
    // Its documents do not have lists without users yet.
    const withUser = (item: unknown) => (lists.hasUsers ? item : { user_id: "", ...Object(item) });
    const items = data?.items.filter((item) => !isOdd(item)).map(withUser);
    return data ? { ...data, items } : answer;
  };

  const server = await servePublished(
    { document: "composio", covers: "/api/", asDocumented: withoutOdd },
    [
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
        const items = all.map(({ item }) => shown(item) as ConnectedAccountListResponse.Item);
        return HttpResponse.json(pageOf(items, cursor) satisfies ConnectedAccountListResponse);
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
        return HttpResponse.json({ success: true } satisfies ConnectedAccountDeleteResponse);
      }),
      http.get(`${API}/tools`, ({ request }) => {
        const { toolkit_slug: toolkit = "", limit, cursor } = queryOf(request);
        if (!TOOLKITS.includes(toolkit)) return refuse(404, "Toolkit_ToolkitNotFound");
        const page = pageOf(toolsOf(toolkit), cursor, limit) satisfies ToolListResponse;
        return HttpResponse.json(page);
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
          return refuse(400, "ToolRouterV2_InvalidInput", message);
        }
        executions.push({ tool: params.slug, ...body });
        const isRefused = params.slug.endsWith("_FAIL");
        return HttpResponse.json({
          successful: !isRefused,
          data: isRefused ? {} : { echoed: body.arguments },
          error: isRefused ? "The service refused it" : null,
          log_id: "log_1",
        } satisfies ToolExecuteResponse);
      }),
      http.get(`${API}/triggers_types`, ({ request }) => {
        const { toolkit_slugs: toolkit = "", limit, cursor } = queryOf(request);
        if (Number(limit) > MAX_TRIGGER_PAGE) return refuse(400, "InvalidRequest");
        if (!TOOLKITS.includes(toolkit)) return refuse(404, "Toolkit_ToolkitNotFound");
        const page = pageOf(typesOf(toolkit), cursor, limit) satisfies TriggersTypeListResponse;
        return HttpResponse.json(page);
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
          const upserted: TriggerInstanceUpsertResponse = { trigger_id: instance.id };
          return HttpResponse.json(upserted);
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
        const items = all.map(
          (one) => shown(describeInstance(one)) as TriggerInstanceListActiveResponse.Item,
        );
        const page = pageOf(items, cursor);
        return HttpResponse.json(page satisfies TriggerInstanceListActiveResponse);
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
        const created: SessionCreateResponse = {
          session_id: session,
          mcp: { type: "http", url: new URL(request.url).origin },
          tool_router_tools: [],
          config: { user_id, preload: { tools: [] }, search: {}, execute: {} },
          config_version: 1,
        };
        return HttpResponse.json(created, { status: 201 });
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
          const made = { link_token: token, redirect_url, connected_account_id: item.id };
          const link: SessionLinkResponse = made;
          return HttpResponse.json(link, { status: 201 });
        },
      ),
    ],
  );

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
    /** Disables a subscription, as the vendor may. Returns the message it sends to a server. */
    disable(url: string, { trigger_config: _, ...instance }: Instance, changes: object = {}) {
      disabled.add(instance.id);
      const data = { ...instance, disabled_reason: "connection_expired", ...changes };
      return signed(url, { type: "composio.trigger.disabled", metadata: project, data });
    },
    /**
     * Returns the message it sends to a server when a connection has expired: it does not contain
     * the owner.
     */
    expire(url: string, { id, toolkit }: { readonly id: string; readonly toolkit: object }) {
      const data = { id, toolkit, status: "EXPIRED", status_reason: "OAuth refresh token expired" };
      return signed(url, { type: "composio.connected_account.expired", metadata: project, data });
    },
    /** Adds a connection to a user's list. */
    add: (userId: string, item: ReturnType<typeof composioItem>) =>
      void accounts.unshift({ userId, item }),
    /** Adds an item to a user's list that is not as documented. */
    addOdd(userId: string, item: object) {
      odd.push(item);
      accounts.unshift({ userId, item });
    },
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

const refuse = (status: number, slug: string, message = `Composio: ${slug}`) =>
  HttpResponse.json({ error: { message, code: 1, slug, status } }, { status });
