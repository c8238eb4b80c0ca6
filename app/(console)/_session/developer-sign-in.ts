import { authClient } from "./auth.ts";

/** Null when it worked, else a sentence. Only `npm run dev` has what it asks for. */
export async function signInAsDeveloper(): Promise<string | null> {
  try {
    const response = await fetch("/auth/developer", { method: "POST" });
    if (!response.ok) return "The development account could not be signed in.";
    const { access_token, refresh_token } = await response.json();
    const client = await authClient();
    const { error } = await client.setSession({ access_token, refresh_token });
    return error && "The development account could not be signed in.";
  } catch {
    return "The service cannot be reached.";
  }
}
