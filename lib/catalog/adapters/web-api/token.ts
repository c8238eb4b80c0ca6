/** The access token of the service itself (OAuth client credentials), fetched once for everybody. */
import { z } from "zod";
import { fetchJson, type UpstreamAnswer } from "../../../platform/outbound/fetch-json.ts";

export interface TokenSettings {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly timeoutMs: number;
}

interface Token {
  readonly kind: "token";
  readonly value: string;
}

type TokenFailure = Exclude<UpstreamAnswer, { kind: "json" }>;

export interface TokenSource {
  /**
   * @param deadline of who asks; the token itself has the whole of `timeoutMs`, for others wait too
   * @param refused a token that the provider did not take: it is never given again
   */
  get(deadline: AbortSignal, refused?: Token): Promise<Token | TokenFailure>;
}

/** Milliseconds before its end when a token is no longer used: requests take time to arrive. */
const MARGIN = 30_000;

const answer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

export function createTokenSource(settings: TokenSettings): TokenSource {
  let current: { readonly token: Token; readonly until: number } | undefined;
  let fetching: Promise<Token | TokenFailure> | undefined;

  const request = async (): Promise<Token | TokenFailure> => {
    const { clientId, clientSecret, tokenUrl, timeoutMs } = settings;
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
    const given = await fetchJson(new URL(tokenUrl), {
      method: "POST",
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
      deadline: AbortSignal.timeout(timeoutMs),
    });
    // What else it refuses is a matter between the service and the provider: a 404 of the token's
    // address is not that of an artist.
    if (given.kind === "refused" && given.status !== 429) return { kind: "broken" };
    if (given.kind !== "json") return given;
    const parsed = answer.safeParse(given.body);
    if (!parsed.success) return { kind: "broken" };
    const lifetime = parsed.data.expires_in * 1000;
    const token = { kind: "token", value: parsed.data.access_token } as const;
    current = { token, until: Date.now() + lifetime - Math.min(MARGIN, lifetime / 2) };
    return token;
  };

  return {
    async get(deadline, refused) {
      if (current && current.token !== refused && Date.now() < current.until) return current.token;
      // A failure is told to all who wait, and the next caller tries anew.
      fetching ??= request().finally(() => {
        fetching = undefined;
      });
      return Promise.race([fetching, timeoutAt(deadline)]);
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
