/** Connections kept by Composio, over its HTTP API (v3.1). An account is its `user_id`. */
import { z } from "zod";
import { timestamp } from "../../platform/database/columns.ts";
import { readRetryAfter } from "../../platform/outbound/fetch-json.ts";
import { parseJsonOf, readText } from "../../platform/outbound/read-text.ts";
import type { Connection } from "../contract.ts";
import type { ConnectorFault, ConnectorProvider } from "../port.ts";

/** Pages of a hundred that are read of one account's connections. */
const MAX_PAGES = 10;

const session = z.object({ session_id: z.string().min(1) });
const link = z.object({ redirect_url: z.url({ protocol: /^https?$/ }) });
const page = z.object({ items: z.array(z.unknown()), next_cursor: z.string().nullish() });
const item = z.object({
  id: z.string(),
  user_id: z.string(),
  status: z.string(),
  toolkit: z.object({ slug: z.string().toLowerCase() }),
  created_at: timestamp,
  updated_at: timestamp,
});
const refusal = z.object({ error: z.object({ slug: z.string() }) });

const statusOf: Readonly<Record<string, Connection["status"]>> = {
  INITIALIZING: "pending",
  INITIATED: "pending",
  ACTIVE: "active",
  EXPIRED: "expired",
  FAILED: "failed",
};

/** @param options.deadline milliseconds that one call of the port may take, all its requests included */
export function createComposioConnectors(options: {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly deadline: number;
}): ConnectorProvider {
  const { apiKey, baseUrl, deadline } = options;

  async function ask<S extends z.ZodType>(
    schema: S,
    path: string,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<{ readonly kind: "answer"; readonly value: z.output<S> } | ConnectorFault> {
    try {
      const response = await fetch(new URL(`/api/v3.1${path}`, baseUrl), {
        method: body === undefined ? "GET" : "POST",
        headers: { "x-api-key": apiKey, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: "error",
        cache: "no-store",
        signal,
      });
      const text = await readText(response);
      if (!response.ok) return refusalOf(path, response, text);
      return { kind: "answer", value: schema.parse(parseJsonOf(text)) };
    } catch (error) {
      const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
      return { kind: isTimeout ? "timeout" : "unavailable", cause: `${path}: ${error}` };
    }
  }

  return {
    name: "composio",

    async authorize({ accountId, connector, callbackUrl }) {
      const signal = AbortSignal.timeout(deadline);
      const made = await ask(session, "/tool_router/session", signal, {
        user_id: accountId,
        toolkits: { enable: [connector] },
        // The session is for the link alone.
        manage_connections: { enable: false },
      });
      if (made.kind !== "answer") return made;
      const id = encodeURIComponent(made.value.session_id);
      const started = await ask(link, `/tool_router/session/${id}/link`, signal, {
        toolkit: connector,
        callback_url: callbackUrl,
      });
      if (started.kind !== "answer") return started;
      return { kind: "started", url: started.value.redirect_url };
    },

    async list(accountId) {
      const signal = AbortSignal.timeout(deadline);
      const connections: Connection[] = [];
      let cursor: string | null | undefined;
      for (let read = 0; read < MAX_PAGES; read++) {
        const query = new URLSearchParams({ user_ids: accountId, limit: "100" });
        if (cursor) query.set("cursor", cursor);
        const answer = await ask(page, `/connected_accounts?${query}`, signal);
        if (answer.kind !== "answer") return answer;
        for (const one of answer.value.items) {
          const { data } = item.safeParse(one);
          // Never only because the provider says so: a filter that it ignored would show strangers'.
          if (data?.user_id === accountId) connections.push(describe(data));
        }
        cursor = answer.value.next_cursor;
        if (!cursor) break;
      }
      connections.sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
      return { kind: "listed", connections };
    },
  };
}

/** The provider names the toolkit in its refusal when it is what it does not know or cannot link. */
function refusalOf(path: string, { status, headers }: Response, text: string): ConnectorFault {
  const cause = `${path} answered ${status}`;
  const slug = refusal.safeParse(parseJson(text)).data?.error.slug ?? "";
  const isUnknown =
    (status === 404 && path.endsWith("/link")) ||
    (status >= 400 && status < 500 && /toolkit/i.test(slug));
  const retryAfter = readRetryAfter(headers.get("retry-after"));
  return isUnknown ? { kind: "unknown", cause } : { kind: "unavailable", cause, retryAfter };
}

function parseJson(text: string): unknown {
  try {
    return parseJsonOf(text);
  } catch {
    return null;
  }
}

const describe = (data: z.output<typeof item>): Connection => ({
  id: data.id,
  connector: data.toolkit.slug,
  // INACTIVE, REVOKED, and what may be added: there, but not to be used.
  status: statusOf[data.status] ?? "inactive",
  createdAt: data.created_at,
  updatedAt: data.updated_at,
});
