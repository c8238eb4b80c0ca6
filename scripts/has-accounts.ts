import { z } from "zod";

/** Returns whether any account exists. Returns true on errors, because the answer is only a hint. */
export async function hasAccounts(env: NodeJS.ProcessEnv): Promise<boolean> {
  const apikey = env.SUPABASE_SECRET_KEY ?? "";
  try {
    const url = new URL("/rest/v1/accounts?select=id&kind=eq.personal&limit=1", env.SUPABASE_URL);
    const answer = await fetch(url, {
      headers: { apikey, authorization: `Bearer ${apikey}` },
      signal: AbortSignal.timeout(15_000),
    });
    return !answer.ok || z.array(z.unknown()).parse(await answer.json()).length > 0;
  } catch {
    return true;
  }
}
