/**
 * OAuth with MCP servers, as their authorization specification says: the official client discovers the
 * authorization server, registers with it, and exchanges and refreshes tokens.
 */

import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { faultOfUrl } from "@platform/kit/outbound/public-address";
import { allowsLoopback } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import {
  boundedFetch,
  describeFailure,
  MAX_OAUTH_BYTES,
  NotConnected,
  UnsafeAuthorization,
} from "./bounded-fetch.ts";
import {
  insertAuthorization,
  leaseTokens,
  type McpAccess,
  type OAuthState,
  redirectUrl,
  selectAccess,
  storeOAuth,
  takeAuthorization,
} from "./store.ts";

const DEADLINE_MS = 20_000;
const POLL_MS = 250;
/** Shorter than the lease of lease_mcp_tokens, 30 seconds. */
const REFRESH_DEADLINE_MS = 25_000;

const metadataUrl = () => `${serviceOrigin()}/api/mcp-servers/client-metadata`;

/** The client metadata of this service. */
const clientMetadata = () => ({
  client_name: "Agent Platform",
  client_uri: serviceOrigin(),
  redirect_uris: [redirectUrl()],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
});

/** The document at the `client_id` of this service, for authorization servers that read it. */
export const clientMetadataDocument = () => ({ client_id: metadataUrl(), ...clientMetadata() });

/** Keeps the protocol client's state in memory until it is sealed. */
class Provider implements OAuthClientProvider {
  readonly stored: { -readonly [K in keyof OAuthState]: OAuthState[K] };
  readonly #registered: McpAccess["client"];
  readonly #state: string | undefined;
  authorizationUrl: URL | undefined;

  /**
   * @param client that the account has registered
   * @param state of a new authorization; absent where a person cannot be asked
   */
  constructor(stored: OAuthState, client: McpAccess["client"], state?: string) {
    this.stored = { ...(client && { client }), ...stored };
    this.#registered = client;
    this.#state = state;
  }
  get redirectUrl() {
    return redirectUrl();
  }
  get clientMetadata() {
    return clientMetadata();
  }
  get clientMetadataUrl(): string | undefined {
    return metadataUrl().startsWith("https:") ? metadataUrl() : undefined;
  }
  state() {
    return this.#state ?? "";
  }
  clientInformation() {
    return this.stored.client;
  }
  /** @throws UnsafeAuthorization in place of another client than the one that the account has registered */
  saveClientInformation(client: NonNullable<OAuthState["client"]>) {
    if (this.#registered && client.client_id !== this.#registered.client_id) {
      throw new UnsafeAuthorization(
        "The server names another issuer than the one that its client is registered with: give auth again",
      );
    }
    this.stored.client = client;
  }
  tokens() {
    return this.stored.tokens;
  }
  saveTokens(tokens: NonNullable<OAuthState["tokens"]>) {
    this.stored.tokens = tokens;
  }
  discoveryState() {
    return this.stored.discovery;
  }
  /** @throws UnsafeAuthorization where the specification lets no client proceed */
  saveDiscoveryState(discovery: NonNullable<OAuthState["discovery"]>) {
    const { authorizationServerMetadata: metadata, resourceMetadata } = discovery;
    if (metadata && !metadata.code_challenge_methods_supported?.includes("S256")) {
      throw new UnsafeAuthorization("The authorization server does not support PKCE with S256");
    }
    // RFC 9728, section 1.2: the identifier of a resource has no fragment.
    if (resourceMetadata?.resource.includes("#")) {
      throw new UnsafeAuthorization("The server's resource has a fragment");
    }
    this.stored.discovery = discovery;
  }
  codeVerifier() {
    return this.stored.verifier ?? "";
  }
  saveCodeVerifier(verifier: string) {
    this.stored.verifier = verifier;
  }
  redirectToAuthorization(url: URL) {
    if (this.#state === undefined) throw new NotConnected();
    this.authorizationUrl = url;
  }
  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery") {
    if (scope === "all" || scope === "tokens") delete this.stored.tokens;
    if (scope === "all" || scope === "client") delete this.stored.client;
  }
}

const hashOf = (state: string) => createHash("sha256").update(state).digest("hex");

const registersNobody = (error: unknown): boolean =>
  error instanceof RegistrationRejectedError ||
  (error instanceof Error &&
    error.message.includes("does not support dynamic client registration"));

/** Returns the URL at which a person connects the server. Errors: 404, 409 unless it uses OAuth, 502. */
export async function startAuthorization(
  db: Database,
  accountId: string,
  id: string,
): Promise<string | AppError> {
  const access = await selectAccess(db, accountId, id);
  if (isAppError(access)) return access;
  if (access.authType !== "oauth")
    return appError("conflict", "The auth of the server is not oauth");
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const state = randomBytes(32).toString("base64url");
  const provider = new Provider({}, access.client, state);
  try {
    const fetchFn = boundedFetch(deadline, MAX_OAUTH_BYTES);
    const challenge = await fetchFn(access.url, { method: "POST", body: "{}" });
    const challenged = extractWWWAuthenticateParams(challenge);
    const { resourceMetadataUrl } = challenged;
    const lacking = access.oauth?.scope;
    const scope = lacking
      ? computeScopeUnion(challenged.scope, access.oauth?.tokens?.scope, lacking)
      : challenged.scope;
    await auth(provider, {
      ...{ serverUrl: access.url, fetchFn },
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope && { scope }),
    });
  } catch (error) {
    return appError(
      "upstream_error",
      registersNobody(error)
        ? `The server registers no clients by itself: register one there with the redirect URI ${redirectUrl()}, and give its client_id in auth`
        : describeFailure(error, deadline),
    );
  }
  const { authorizationUrl, stored } = provider;
  if (!authorizationUrl || faultOfUrl(authorizationUrl, allowsLoopback("mcp")) !== null) {
    return appError("upstream_error", "The server's authorization page is not at an https URL");
  }
  await insertAuthorization(db, access, hashOf(state), stored);
  return authorizationUrl.href;
}

/**
 * Exchanges the code with which a person has come back, once, for tokens of the server that it was requested
 * for. Errors: 404 for a state of another account, an old or a used one; 502.
 */
export async function finishAuthorization(
  db: Database,
  accountId: string,
  {
    state,
    code,
    iss,
  }: { readonly state: string; readonly code: string; readonly iss?: string | undefined },
): Promise<McpAccess | AppError> {
  const taken = await takeAuthorization(db, accountId, hashOf(state));
  if (isAppError(taken)) return taken;
  const { access, stored } = taken;
  const provider = new Provider(stored, access.client);
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    await auth(provider, {
      ...{
        serverUrl: access.url,
        authorizationCode: code,
        fetchFn: boundedFetch(deadline, MAX_OAUTH_BYTES),
      },
      ...(iss !== undefined && { iss }),
    });
  } catch (error) {
    return appError(
      "upstream_error",
      `It could not be connected. ${describeFailure(error, deadline)}`,
    );
  }
  const { verifier: _, ...kept } = provider.stored;
  await storeOAuth(db, access, kept);
  return access;
}

const MAX_SCOPE_CHARS = 1_000;

/** Notes the scope that a call has lacked, unless the tokens are changed at the same time. */
export async function addScope(db: Database, access: McpAccess, required: string): Promise<void> {
  const { oauth } = access;
  const scope = computeScopeUnion(oauth?.scope, required);
  if (!oauth || !scope || scope === oauth.scope || scope.length > MAX_SCOPE_CHARS) return;
  if ((await leaseTokens(db, access)) === "leased")
    await storeOAuth(db, access, { ...oauth, scope }, true);
}

/** Sends the tokens of a server, and refreshes them once for all calls that need it at the same time. */
export function tokensOf(db: Database, given: McpAccess, signal: AbortSignal): AuthProvider {
  let access = given;
  return {
    token: async () => access.oauth?.tokens?.access_token,
    onUnauthorized: async () => {
      access = await refreshed(db, access, signal);
    },
  };
}

async function refreshed(db: Database, access: McpAccess, signal: AbortSignal): Promise<McpAccess> {
  for (;;) {
    const lease = await leaseTokens(db, access);
    if (lease === "missing") throw new NotConnected();
    // Another call has refreshed them.
    if (typeof lease === "object") return lease;
    if (lease === "leased") break;
    await delay(POLL_MS, undefined, { signal });
  }
  const provider = new Provider(access.oauth ?? {}, access.client);
  // It ends before its lease: a refresh token that is sent twice can end the whole connection.
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(REFRESH_DEADLINE_MS)]);
  try {
    await auth(provider, {
      serverUrl: access.url,
      fetchFn: boundedFetch(deadline, MAX_OAUTH_BYTES),
    });
  } catch (error) {
    // Tokens that the server has refused are dropped.
    await storeOAuth(db, access, provider.stored, true);
    throw error;
  }
  return storeOAuth(db, access, provider.stored, true);
}
