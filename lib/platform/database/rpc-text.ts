import { z } from "zod";
import { config } from "../config.ts";
import { keepAliveFetch } from "../outbound/keep-alive-fetch.ts";
import { callDirectly } from "./direct.ts";
import { parseAnswer } from "./query.ts";
import { DatabaseUnavailable } from "./unavailable.ts";

/**
 * Calls a SQL function that returns `"text/plain"`, and resolves to its text. For bodies that are only
 * passed on, which supabase-js would parse and the response would serialize again.
 * @throws DatabaseUnavailable when it cannot be reached; Error when the call itself is wrong.
 */
export async function rpcText(
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const direct = await callDirectly(name, args, "text");
  if (direct) return parseAnswer(name, direct, z.string());
  const { SUPABASE_URL, SUPABASE_SECRET_KEY } = config();
  let response: Response;
  let text: string;
  try {
    response = await keepAliveFetch(new URL(`/rest/v1/rpc/${name}`, SUPABASE_URL), {
      method: "POST",
      headers: {
        apikey: SUPABASE_SECRET_KEY,
        authorization: `Bearer ${SUPABASE_SECRET_KEY}`,
        "content-type": "application/json",
        accept: "text/plain",
      },
      body: JSON.stringify(args),
    });
    text = await response.text();
  } catch (cause) {
    throw new DatabaseUnavailable(`${name}: no answer`, { cause });
  }
  if (response.ok) return text;
  const failure = `${name}: ${response.status} ${text}`;
  // 400 and 404 mean a wrong call; everything else is an outage of the database or its gateway.
  if ([400, 404].includes(response.status)) throw new Error(failure);
  throw new DatabaseUnavailable(failure);
}
