/** The access token of this service (OAuth 2.0 client credentials), shared by all requests. */

import { fetchJson, requestJson, type UpstreamAnswer } from "@platform/kit/outbound/fetch-json";
import { describeAnswer, describeStatus, type Probe } from "@platform/kit/outbound/probe";
import { z } from "zod";

export interface CatalogApiSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly baseUrl: string;
  readonly tokenUrl: string;
  /** The deadline of one lookup, including its token, its retries and all its pages. */
  readonly timeoutMs: number;
}

type TokenSettings = Omit<CatalogApiSettings, "baseUrl">;

interface Token {
  readonly kind: "token";
  readonly value: string;
}

type TokenFailure = Exclude<UpstreamAnswer, { kind: "json" }>;

export interface TokenSource {
  /**
   * Returns the cached token, or fetches one.
   *
   * @param deadline of this caller only; the shared fetch has `timeoutMs`, because others wait for
   * it too
   * @param refused a token that the provider rejected, which is not returned again
   */
  get(deadline: AbortSignal, refused?: Token): Promise<Token | TokenFailure>;
}

/** How long before its expiry a token is no longer used, because requests take time to arrive. */
const EXPIRY_MARGIN_MS = 30_000;

const tokenResponse = z.object({
  access_token: z.string().min(1),
  expires_in: z.number().positive(),
});

function requestToken(
  { clientId, clientSecret, tokenUrl }: TokenSettings,
  deadline: AbortSignal,
): Promise<UpstreamAnswer> {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  return fetchJson(new URL(tokenUrl), {
    vendor: "catalog",
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
    deadline,
  });
}

export function createTokenSource(settings: TokenSettings): TokenSource {
  let current: { readonly token: Token; readonly until: number } | undefined;
  let fetching: Promise<Token | TokenFailure> | undefined;

  const request = async (): Promise<Token | TokenFailure> => {
    const response = await requestToken(settings, AbortSignal.timeout(settings.timeoutMs));
    // Other refusals concern this service's credentials: a 404 here must not look like a missing
    // artist.
    if (response.kind === "refused" && response.status !== 429) return { kind: "broken" };
    if (response.kind !== "json") return response;
    const parsed = tokenResponse.safeParse(response.body);
    if (!parsed.success) return { kind: "broken" };
    const lifetimeMs = parsed.data.expires_in * 1000;
    const token = { kind: "token", value: parsed.data.access_token } as const;
    current = {
      token,
      until: Date.now() + lifetimeMs - Math.min(EXPIRY_MARGIN_MS, lifetimeMs / 2),
    };
    return token;
  };

  return {
    async get(deadline, refused) {
      if (current && current.token !== refused && Date.now() < current.until) return current.token;
      const isJoined = fetching !== undefined;
      // All waiting callers share a failure; the next caller retries.
      fetching ??= request().finally(() => {
        fetching = undefined;
      });
      const answer = await Promise.race([fetching, timeoutAt(deadline)]);
      // The fetch that another caller started may time out long before this caller's deadline.
      const isEarly = isJoined && answer.kind === "timeout" && !deadline.aborted;
      return isEarly ? this.get(deadline, refused) : answer;
    },
  };
}

function timeoutAt(deadline: AbortSignal): Promise<TokenFailure> {
  return new Promise((resolve) => {
    const end = () => resolve({ kind: "timeout" });
    if (deadline.aborted) end();
    else deadline.addEventListener("abort", end, { once: true });
  });
}

const credentials = ["CATALOG_CLIENT_ID", "CATALOG_CLIENT_SECRET"];
const ofTokens = { credentials, address: ["CATALOG_TOKEN_URL"] };
const ofApi = { credentials, address: ["CATALOG_BASE_URL"] };

/** RFC 6749, section 5.2: the status is 400 or 401. */
const refusal = z.object({ error: z.enum(["invalid_client", "unauthorized_client"]) });

/** Fetches a separate token, and makes the smallest search with it. */
export async function probeCatalog(
  settings: CatalogApiSettings,
  deadline: AbortSignal,
): Promise<Probe[]> {
  const tokenUrl = new URL(settings.tokenUrl);
  const answer = await requestToken(settings, deadline);
  if (answer.kind === "refused" && refusal.safeParse(answer.body).success) {
    return [describeStatus(tokenUrl, 401, ofTokens)];
  }
  if (answer.kind !== "json") return [describeAnswer(tokenUrl, answer, ofTokens)];
  const token = tokenResponse.safeParse(answer.body).data?.access_token;
  if (token === undefined) {
    const cause = new SyntaxError("no token");
    return [describeAnswer(tokenUrl, { kind: "broken", cause }, ofTokens)];
  }
  const url = new URL(`${settings.baseUrl.replace(/\/+$/, "")}/search?q=a&type=artist&limit=1`);
  const headers = { authorization: `Bearer ${token}` };
  return [
    describeAnswer(url, await requestJson(url, { vendor: "catalog", headers, deadline }), ofApi),
  ];
}
