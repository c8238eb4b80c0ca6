/**
 * Connections to MCP servers, one for each list of tools and each call. A server is hostile: its addresses, its
 * answers in number and size, and its time are bounded here.
 */

import { setTimeout as delay, setImmediate as immediate } from "node:timers/promises";
import {
  Client,
  isJSONRPCResultResponse,
  isSpecType,
  type JSONRPCMessage,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Database } from "../platform/database/port.ts";
import { boundedFetch, isOwnStream, NotConnected, scopeIn } from "./bounded-fetch.ts";
import { addScope, tokensOf } from "./oauth.ts";
import type { McpAccess } from "./store.ts";

const MAX_PAGES = 20;
const OWN_STREAM_MS = 1_000;

/** Answers of tools are not validated: the schemas are the server's, and could block this process. */
const noValidation: jsonSchemaValidator = {
  getValidator: () => (input) => ({
    valid: true,
    // Not validated: nothing relies on its type.
    data: input as never,
    errorMessage: undefined,
  }),
};

/** Parts of a server's messages that the client of the protocol does not take. */
export interface Faults {
  /** Why tools of its list are unfit, by their names. They are listed without their definitions. */
  readonly faults: ReadonlyMap<string, string>;
  /** Its own requests, which were refused, such as `elicitation/create: Which account?`. */
  readonly asked: readonly string[];
}

/**
 * Connects to a server, and closes the connection after `use`.
 * @throws the errors of the client of the protocol, which `describeFailure` describes
 */
export async function withServer<T>(
  db: Database,
  access: McpAccess,
  signal: AbortSignal,
  use: (client: Client, transport: Faults) => Promise<T>,
): Promise<T> {
  const { url, headers, isLegacy, authType, oauth } = access;
  if (authType === "oauth" && !oauth?.tokens) throw new NotConnected();
  const send = boundedFetch(signal);
  let ownStream: Promise<unknown> | undefined;
  const transport = new Transport(new URL(url), {
    fetch: (input, init) => {
      const response = send(input, init);
      if (isOwnStream(init)) ownStream ??= response.catch(() => {});
      return response;
    },
    requestInit: { headers },
    ...(oauth && { authProvider: tokensOf(db, access, signal) }),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
  });
  const client = new Client(
    { name: "agent-platform", version: "1.0.0" },
    {
      versionNegotiation: { mode: isLegacy ? "legacy" : "auto" },
      inputRequired: { autoFulfill: false },
      listMaxPages: MAX_PAGES,
      jsonSchemaValidator: noValidation,
    },
  );
  try {
    await client.connect(transport, { signal });
    transport.tolerateFaults();
    // A request that the server makes before its own stream is open would be lost, and its answer
    // with it. If the server has one, the client has started to open it by now.
    await immediate();
    if (ownStream) await Promise.race([ownStream, delay(OWN_STREAM_MS, undefined, { ref: false })]);
    return await use(client, transport);
  } catch (error) {
    const scope = scopeIn(error);
    if (scope !== undefined) await addScope(db, access, scope);
    throw error;
  } finally {
    // A server without an answer must not delay the result.
    void endSession(transport).finally(() => client.close());
  }
}

const STREAM_ENDED = "The stream has ended without an answer";

const MAX_ASKED = 5;
const MAX_ASKED_CHARS = 500;

class Transport extends StreamableHTTPClientTransport implements Faults {
  readonly faults = new Map<string, string>();
  readonly asked: string[] = [];
  /** The methods of the requests that were sent. */
  readonly #methods = new Map<string | number, string>();

  override send(...[message, options]: Parameters<StreamableHTTPClientTransport["send"]>) {
    if (!Array.isArray(message) && "method" in message && "id" in message) {
      this.#methods.set(message.id, message.method);
    }
    // A request whose stream ends without its answer fails: the client would wait for it in vain.
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (Array.isArray(message) || !("method" in message) || !("id" in message)) return;
      const error = { code: ProtocolErrorCode.InternalError, message: STREAM_ENDED };
      this.onmessage?.({ jsonrpc: "2.0", id: message.id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }

  /**
   * Keeps an odd tool, or an odd block of a result, from failing the whole answer that it is part of, and refuses the
   * server's own requests. The client leaves them unanswered in revisions of the protocol that have none.
   */
  tolerateFaults(): void {
    const receive = this.onmessage;
    this.onmessage = (message, ...extra) => {
      if ("method" in message && "id" in message && message.method !== "ping") {
        this.#addAsked(message);
        const error = { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" };
        void super.send({ jsonrpc: "2.0", id: message.id, error }).catch(() => {});
      } else receive?.(this.#admitted(message), ...extra);
    };
  }

  #addAsked({ method, params }: { readonly method: string; readonly params?: unknown }): void {
    if (this.asked.length >= MAX_ASKED) return;
    const { message } = Object(params);
    const text = typeof message === "string" ? `${method}: ${message}` : method;
    this.asked.push(text.slice(0, MAX_ASKED_CHARS));
  }

  #admitted(message: JSONRPCMessage): JSONRPCMessage {
    if (!isJSONRPCResultResponse(message)) return message;
    const method = this.#methods.get(message.id);
    if (method !== "tools/list" && method !== "tools/call") return message;
    // Servers write null for absent fields.
    const given = Object.entries(message.result).filter(([, value]) => value !== null);
    const result: Record<string, unknown> = Object.fromEntries(given);
    if (result.resultType === "input_required") {
      for (const wanted of Object.values(Object(result.inputRequests))) {
        this.#addAsked({ method: String(Object(wanted).method), params: Object(wanted).params });
      }
    } else if (method === "tools/call") {
      const { content, structuredContent: structured } = result;
      const blocks: unknown[] = Array.isArray(content) ? content : [];
      // Older revisions take objects only.
      const isObject = typeof structured === "object" && !Array.isArray(structured);
      if (structured !== undefined && !isObject) {
        delete result.structuredContent;
        blocks.push(structured);
      }
      result.content = blocks.map((block) =>
        isSpecType.ContentBlock(block) ? block : { type: "text", text: jsonOf(block) },
      );
    } else if (Array.isArray(result.tools)) {
      result.tools = result.tools.flatMap((tool: unknown) => this.#admittedTool(tool) ?? []);
    }
    return { ...message, result };
  }

  /** Returns null for a tool without a name. */
  #admittedTool(tool: unknown): object | null {
    // Nothing else of a tool is used.
    const { name, title, description, inputSchema, annotations } = Object(tool);
    const used = Object.entries({ name, title, description, inputSchema, annotations });
    const known = Object.fromEntries(used.filter(([, value]) => value != null));
    if (isSpecType.Tool(known)) return known;
    if (typeof name !== "string") return null;
    const isSchema = isSpecType.Tool({ ...known, inputSchema: { type: "object" } });
    const part = isSchema ? "input schema" : "definition";
    this.faults.set(name, `The ${part} is not as the protocol says`);
    return { name, inputSchema: { type: "object" } };
  }
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "[content that is too deep to be shown]";
  }
}

/** Returns the text of a server that refuses a request; undefined for every other failure. */
export const refusalIn = (error: unknown): string | undefined =>
  error instanceof ProtocolError && error.message !== STREAM_ENDED ? error.message : undefined;

/** Ends the session, if the server has one. */
async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId) await transport.terminateSession().catch(() => {});
}
