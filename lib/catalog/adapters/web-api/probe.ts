import { z } from "zod";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";
import { describeAnswer, describeStatus, type Probe } from "../../../platform/outbound/probe.ts";
import { requestToken, type TokenSettings, tokenResponse } from "./token.ts";

const credentials = ["CATALOG_CLIENT_ID", "CATALOG_CLIENT_SECRET"];
const ofTokens = { credentials, address: ["CATALOG_TOKEN_URL"] };
const ofApi = { credentials, address: ["CATALOG_BASE_URL"] };

/** RFC 6749, section 5.2: the status is 400 or 401. */
const refusal = z.object({ error: z.enum(["invalid_client", "unauthorized_client"]) });

/** Fetches a separate token, and makes the smallest search with it. */
export async function probeCatalog(
  settings: TokenSettings & { readonly baseUrl: string },
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
