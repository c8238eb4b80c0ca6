/** Connections that Composio manages, over its HTTP API (v3.1). The account id is its `user_id`. */
import { z } from "zod";
import { timestamp } from "../../platform/database/columns.ts";
import { type Refusal, requestJson } from "../../platform/outbound/fetch-json.ts";
import { probeJson } from "../../platform/outbound/probe.ts";
import type { Connection, ConnectorAction } from "../contract.ts";
import type { ConnectorFault, ConnectorProvider } from "../port.ts";
import { recordLink, refusedConnections } from "../store.ts";

/** Bounds how many pages of connections are read for one account. */
const MAX_PAGES = 10;
const PAGE_SIZE = 100;
/** Bounds a service's error message. */
const MAX_ERROR_CHARS = 2_000;

const createdSession = z.object({ session_id: z.string().min(1) });
const createdLink = z.object({
  redirect_url: z.url({ protocol: /^https?$/ }),
  connected_account_id: z.string().min(1),
});
const page = z.object({ items: z.array(z.unknown()), next_cursor: z.string().nullish() });
const item = z.object({
  id: z.string(),
  user_id: z.string(),
  status: z.string(),
  toolkit: z.object({ slug: z.string().toLowerCase() }),
  created_at: timestamp,
  updated_at: timestamp,
});
const tool = z.object({
  slug: z.string(),
  description: z.string().catch(""),
  input_parameters: z.record(z.string(), z.unknown()).catch({}),
  toolkit: z.object({ slug: z.string().toLowerCase() }),
});
const executed = z.object({
  successful: z.boolean(),
  data: z.unknown(),
  error: z.string().nullish(),
});
const refusal = z.object({ error: z.object({ slug: z.string() }) });

const statusOf: Readonly<Record<string, Connection["status"]>> = {
  INITIALIZING: "pending",
  INITIATED: "pending",
  ACTIVE: "active",
  EXPIRED: "expired",
  FAILED: "failed",
};

type Answer<S extends z.ZodType> =
  | { readonly kind: "answer"; readonly value: z.output<S> }
  | ConnectorFault;

type RequestOf<M extends "authorize" | "disconnect" | "listActions" | "runAction"> = Parameters<
  ConnectorProvider[M]
>[0];

export class ComposioConnectors implements ConnectorProvider {
  readonly name = "composio";
  readonly #headers: Readonly<Record<string, string>>;
  readonly #baseUrl: string;
  readonly #timeoutMs: number;

  /** @param options.timeoutMs the deadline of one call of the port, including all its requests */
  constructor(options: {
    readonly apiKey: string;
    readonly baseUrl: string;
    readonly timeoutMs: number;
  }) {
    this.#headers = { "x-api-key": options.apiKey };
    this.#baseUrl = options.baseUrl;
    this.#timeoutMs = options.timeoutMs;
  }

  async authorize({ accountId, starter, connector, callbackUrl }: RequestOf<"authorize">) {
    const deadline = this.#deadline();
    const made = await this.#ask(createdSession, "/tool_router/session", deadline, {
      user_id: accountId,
      toolkits: { enable: [connector] },
      // The session is used only to create the link.
      manage_connections: { enable: false },
    });
    if (made.kind !== "answer") return made;
    const id = encodeURIComponent(made.value.session_id);
    const started = await this.#ask(createdLink, `/tool_router/session/${id}/link`, deadline, {
      toolkit: connector,
      callback_url: callbackUrl,
    });
    if (started.kind !== "answer") return started;
    // Recorded before the link is returned.
    await recordLink(accountId, started.value.connected_account_id, starter);
    return { kind: "started", url: started.value.redirect_url } as const;
  }

  async list(accountId: string) {
    const connections = await this.#listPages(accountId, this.#deadline());
    if (!Array.isArray(connections)) return connections;
    const active = connections.filter(({ status }) => status === "active").map(({ id }) => id);
    const refused = active.length === 0 ? [] : await refusedConnections(accountId, active);
    const usable = connections.map(
      (one): Connection => (refused.includes(one.id) ? { ...one, status: "inactive" } : one),
    );
    usable.sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
    return { kind: "listed", connections: usable } as const;
  }

  async #listPages(accountId: string, deadline: AbortSignal) {
    const connections: Connection[] = [];
    const query = new URLSearchParams({ user_ids: accountId, limit: String(PAGE_SIZE) });
    for (let pageNumber = 1; pageNumber <= MAX_PAGES; pageNumber++) {
      const answer = await this.#ask(page, `/connected_accounts?${query}`, deadline);
      if (answer.kind !== "answer") return answer;
      for (const one of answer.value.items) {
        const { data } = item.safeParse(one);
        // Checked here as well: the filter of the request alone is not trusted with the tenant.
        if (data?.user_id === accountId) connections.push(describe(data));
      }
      if (!answer.value.next_cursor) break;
      query.set("cursor", answer.value.next_cursor);
    }
    return connections;
  }

  async disconnect({ accountId, connector }: RequestOf<"disconnect">) {
    const listed = await this.list(accountId);
    if (listed.kind !== "listed") return listed;
    const own = listed.connections.filter((one) => one.connector === connector);
    const deadline = this.#deadline();
    for (const { id } of own) {
      const path = `/connected_accounts/${encodeURIComponent(id)}`;
      const removed = await this.#ask(z.unknown(), path, deadline, undefined, "DELETE");
      // One that another request has removed counts as removed.
      if (removed.kind !== "answer" && !isMissing(removed)) return removed;
    }
    return { kind: "disconnected", count: own.length } as const;
  }

  async listActions({ connector, limit, cursor }: RequestOf<"listActions">) {
    const query = new URLSearchParams({ toolkit_slug: connector, limit: String(limit) });
    if (cursor !== undefined) query.set("cursor", cursor);
    const answer = await this.#ask(page, `/tools?${query}`, this.#deadline());
    if (answer.kind !== "answer") return answer;
    const actions = answer.value.items.flatMap((one) => {
      const { data } = tool.safeParse(one);
      return data?.toolkit.slug === connector ? [describeTool(data)] : [];
    });
    return { kind: "actions", actions, nextCursor: answer.value.next_cursor || null } as const;
  }

  async runAction({ accountId, connector, action, input }: RequestOf<"runAction">) {
    const listed = await this.list(accountId);
    if (listed.kind !== "listed") return listed;
    const active = listed.connections.find(
      (one) => one.connector === connector && one.status === "active",
    );
    if (!active) return fault("not_connected", `${connector} is not connected`);
    const deadline = this.#deadline();
    const slug = encodeURIComponent(action);
    // The name alone does not identify the connector of the action.
    const found = await this.#ask(tool, `/tools/${slug}`, deadline);
    if (found.kind !== "answer") {
      return isMissing(found) ? fault("unknown_action", found.cause) : found;
    }
    const { toolkit } = found.value;
    if (toolkit.slug !== connector)
      return fault("unknown_action", `${action} is of ${toolkit.slug}`);
    const ran = await this.#ask(executed, `/tools/execute/${slug}`, deadline, {
      user_id: accountId,
      connected_account_id: active.id,
      arguments: input,
    });
    if (ran.kind !== "answer") return ran;
    const { successful, data, error } = ran.value;
    const text = error?.slice(0, MAX_ERROR_CHARS) ?? null;
    return { kind: "ran", result: { successful, output: data ?? null, error: text } } as const;
  }

  async check(deadline: AbortSignal) {
    const url = new URL("/api/v3.1/connected_accounts?limit=1", this.#baseUrl);
    const question = { vendor: "composio", headers: this.#headers, deadline } as const;
    return [await probeJson(url, question, access)];
  }

  #deadline(): AbortSignal {
    return AbortSignal.timeout(this.#timeoutMs);
  }

  async #ask<S extends z.ZodType>(
    schema: S,
    path: string,
    deadline: AbortSignal,
    body?: object,
    method?: "DELETE",
  ): Promise<Answer<S>> {
    const url = new URL(`/api/v3.1${path}`, this.#baseUrl);
    const headers = this.#headers;
    const answer = await requestJson(url, { vendor: "composio", headers, body, method, deadline });
    if (answer.kind === "refused") return faultOf(path, answer);
    if (answer.kind !== "json") {
      const kind = answer.kind === "timeout" ? "timeout" : "unavailable";
      return fault(kind, `${path}: ${answer.cause}`);
    }
    const { success, data, error } = schema.safeParse(answer.body);
    return success ? { kind: "answer", value: data } : fault("unavailable", `${path}: ${error}`);
  }
}

const fault = (kind: ConnectorFault["kind"], cause: string): ConnectorFault => ({ kind, cause });

const isMissing = ({ kind, status }: ConnectorFault): boolean =>
  kind === "unavailable" && status === 404;

const access = { credentials: ["COMPOSIO_API_KEY"], address: ["COMPOSIO_BASE_URL"] };

/** An error slug that names the toolkit means that the provider does not know it or cannot link it. */
function faultOf(path: string, { status, retryAfter, body }: Refusal): ConnectorFault {
  const cause = `${path} answered ${status}`;
  const slug = refusal.safeParse(body).data?.error.slug ?? "";
  const isUnknown =
    (status === 404 && path.endsWith("/link")) ||
    (status >= 400 && status < 500 && /toolkit/i.test(slug));
  return isUnknown
    ? { kind: "unknown", cause }
    : { kind: "unavailable", cause, retryAfter, status };
}

const describeTool = (data: z.output<typeof tool>): ConnectorAction => ({
  name: data.slug,
  description: data.description,
  inputSchema: data.input_parameters,
});

const describe = (data: z.output<typeof item>): Connection => ({
  id: data.id,
  connector: data.toolkit.slug,
  // INACTIVE, REVOKED and future statuses: the connection exists but cannot be used.
  status: statusOf[data.status] ?? "inactive",
  createdAt: data.created_at,
  updatedAt: data.updated_at,
});
