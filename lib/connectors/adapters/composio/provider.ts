/** Connections that Composio manages, over its HTTP API (v3.1). The account id is its `user_id`. */
import { z } from "zod";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";
import { probeJson } from "../../../platform/outbound/probe.ts";
import type { Connection } from "../../contract.ts";
import type { ConnectorFault, ConnectorProvider } from "../../port.ts";
import { recordLink, refusedConnections } from "../../store.ts";
import {
  connectedAccount,
  createdLink,
  createdSession,
  describeConnection,
  describeTool,
  describeTriggerType,
  executed,
  fault,
  faultOf,
  isDestructive,
  isMissing,
  MAX_ERROR_CHARS,
  page,
  tool,
  triggerInstance,
  triggerType,
  upserted,
} from "./answers.ts";

/** Bounds how many pages of connections are read for one account. */
const MAX_PAGES = 10;
const PAGE_SIZE = 100;
/** The largest page of triggers and of their types. */
const MAX_TRIGGER_PAGE = 50;

type Answer<S extends z.ZodType> =
  | { readonly kind: "answer"; readonly value: z.output<S> }
  | ConnectorFault;

type RequestOf<M extends Exclude<keyof ConnectorProvider, "name" | "receivesEvents" | "check">> =
  Parameters<ConnectorProvider[M]>[0];

export class ComposioConnectors implements ConnectorProvider {
  readonly name = "composio";
  readonly receivesEvents: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #baseUrl: string;
  readonly #timeoutMs: number;

  /**
   * @param options.receivesEvents whether the secret is known with which events are signed
   * @param options.timeoutMs the deadline of one call of the port, including all its requests
   */
  constructor(options: {
    readonly apiKey: string;
    readonly baseUrl: string;
    readonly receivesEvents: boolean;
    readonly timeoutMs: number;
  }) {
    this.receivesEvents = options.receivesEvents;
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
        const { data } = connectedAccount.safeParse(one);
        // Checked here as well: the filter of the request alone is not trusted with the tenant.
        if (data?.user_id === accountId) connections.push(describeConnection(data));
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

  async describeAction({ connector, action }: RequestOf<"describeAction">) {
    const found = await this.#findTool(connector, action, this.#deadline());
    if ("cause" in found) return found;
    return { kind: "action", isDestructive: isDestructive(found) } as const;
  }

  /** Returns `unknown_action` for one of another connector: the name alone does not identify it. */
  async #findTool(connector: string, action: string, deadline: AbortSignal) {
    const found = await this.#ask(tool, `/tools/${encodeURIComponent(action)}`, deadline);
    if (found.kind !== "answer") {
      return isMissing(found) ? fault("unknown_action", found.cause) : found;
    }
    const { toolkit } = found.value;
    if (toolkit.slug !== connector)
      return fault("unknown_action", `${action} is of ${toolkit.slug}`);
    return found.value;
  }

  async listEvents({ connector, limit, cursor }: RequestOf<"listEvents">) {
    const size = String(Math.min(limit, MAX_TRIGGER_PAGE));
    const query = new URLSearchParams({ toolkit_slugs: connector, limit: size });
    if (cursor !== undefined) query.set("cursor", cursor);
    const answer = await this.#ask(page, `/triggers_types?${query}`, this.#deadline());
    if (answer.kind !== "answer") return answer;
    const events = answer.value.items.flatMap((one) => {
      const { data } = triggerType.safeParse(one);
      return data?.toolkit.slug === connector ? [describeTriggerType(data)] : [];
    });
    return { kind: "events", events, nextCursor: answer.value.next_cursor || null } as const;
  }

  async subscribe({ accountId, connector, event, config }: RequestOf<"subscribe">) {
    const active = await this.#activeConnection(accountId, connector);
    if ("cause" in active) return active;
    const deadline = this.#deadline();
    const slug = encodeURIComponent(event);
    // The name alone does not identify the connector of the event.
    const found = await this.#ask(triggerType, `/triggers_types/${slug}`, deadline);
    if (found.kind !== "answer") {
      return isMissing(found) ? fault("unknown_event", found.cause) : found;
    }
    const { value } = found;
    if (value.toolkit.slug !== connector || value.slug !== event) {
      return fault("unknown_event", `${event} is ${value.slug} of ${value.toolkit.slug}`);
    }
    const made = await this.#ask(upserted, `/trigger_instances/${slug}/upsert`, deadline, {
      connected_account_id: active.id,
      trigger_config: config,
    });
    return made.kind === "answer"
      ? ({ kind: "subscribed", id: made.value.trigger_id } as const)
      : made;
  }

  async unsubscribe({ accountId, keptIds }: RequestOf<"unsubscribe">) {
    const deadline = this.#deadline();
    const query = new URLSearchParams({ user_ids: accountId, limit: String(MAX_TRIGGER_PAGE) });
    const unused: string[] = [];
    for (let pageNumber = 1; pageNumber <= MAX_PAGES; pageNumber++) {
      const answer = await this.#ask(page, `/trigger_instances/active?${query}`, deadline);
      if (answer.kind !== "answer") return answer;
      for (const one of answer.value.items) {
        const { data } = triggerInstance.safeParse(one);
        // As where connections are listed.
        if (data?.user_id === accountId && !keptIds.includes(data.id)) unused.push(data.id);
      }
      if (!answer.value.next_cursor) break;
      query.set("cursor", answer.value.next_cursor);
    }
    for (const id of unused) {
      const path = `/trigger_instances/manage/${encodeURIComponent(id)}`;
      const removed = await this.#ask(z.unknown(), path, deadline, undefined, "DELETE");
      if (removed.kind !== "answer" && !isMissing(removed)) return removed;
    }
    return { kind: "unsubscribed" } as const;
  }

  /** Returns `not_connected` without one. */
  async #activeConnection(accountId: string, connector: string) {
    const listed = await this.list(accountId);
    if (listed.kind !== "listed") return listed;
    const active = listed.connections.find(
      (one) => one.connector === connector && one.status === "active",
    );
    return active ?? fault("not_connected", `${connector} is not connected`);
  }

  async runAction({ accountId, connector, action, input }: RequestOf<"runAction">) {
    const active = await this.#activeConnection(accountId, connector);
    if ("cause" in active) return active;
    const deadline = this.#deadline();
    const found = await this.#findTool(connector, action, deadline);
    if ("cause" in found) return found;
    const path = `/tools/execute/${encodeURIComponent(action)}`;
    const ran = await this.#ask(executed, path, deadline, {
      user_id: accountId,
      connected_account_id: active.id,
      arguments: input,
    });
    // The agent can correct its input.
    if (ran.kind === "unavailable" && ran.message !== undefined) {
      const result = { successful: false, output: null, error: ran.message };
      return { kind: "ran", result } as const;
    }
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

const access = { credentials: ["COMPOSIO_API_KEY"], address: ["COMPOSIO_BASE_URL"] };
