/**
 * Connections to MCP servers, one for each list of tools and each call. A server is hostile: its addresses, its
 * answers in number and size, and its time are bounded here.
 */
import {
  Client,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { boundedFetch, NotConnected, scopeIn } from "./bounded-fetch.ts";
import { noteScope, tokensOf } from "./oauth.ts";
import type { McpAccess } from "./store.ts";

const MAX_PAGES = 20;

/** Answers of tools are not validated: the schemas are the server's, and could block this process. */
const noValidation: jsonSchemaValidator = {
  getValidator: () => (input) => ({
    valid: true,
    // Whatever it is: nothing relies on its type.
    data: input as never,
    errorMessage: undefined,
  }),
};

/**
 * Connects to a server, and closes the connection after `use`.
 * @throws the errors of the client of the protocol, which `describeFailure` describes
 */
export async function withServer<T>(
  access: McpAccess,
  signal: AbortSignal,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const { url, headers, isLegacy, authType, oauth } = access;
  if (authType === "oauth" && !oauth?.tokens) throw new NotConnected();
  const transport = new Transport(new URL(url), {
    fetch: boundedFetch(signal),
    requestInit: { headers },
    ...(oauth && { authProvider: tokensOf(access, signal) }),
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
    return await use(client);
  } catch (error) {
    const scope = scopeIn(error);
    if (scope !== undefined) await noteScope(access, scope);
    throw error;
  } finally {
    // A server without an answer must not delay the result.
    void goodbye(transport).finally(() => client.close());
  }
}

const STREAM_ENDED = "The stream has ended without an answer";

class Transport extends StreamableHTTPClientTransport {
  /** Fails a request whose stream ends without its answer, for which the client would wait in vain. */
  override send(...[message, options]: Parameters<StreamableHTTPClientTransport["send"]>) {
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (Array.isArray(message) || !("method" in message) || !("id" in message)) return;
      const error = { code: ProtocolErrorCode.InternalError, message: STREAM_ENDED };
      this.onmessage?.({ jsonrpc: "2.0", id: message.id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

/** Returns the text of a server that refuses a request; undefined for every other failure. */
export const refusalIn = (error: unknown): string | undefined =>
  error instanceof ProtocolError && error.message !== STREAM_ENDED ? error.message : undefined;

/** Ends the session, if the server has one. */
async function goodbye(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId) await transport.terminateSession().catch(() => {});
}
