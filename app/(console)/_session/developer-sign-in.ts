import { authClient } from "./auth.ts";

/** Signs in as the seeded account of `npm run dev`. Resolves to null, or to an error text. */
export async function signInAsDeveloper(): Promise<string | null> {
  try {
    const response = await fetch("/auth/developer", { method: "POST" });
    if (!response.ok) return "Could not sign in with the development account.";
    const { access_token, refresh_token } = await response.json();
    const client = await authClient();
    const { error } = await client.setSession({ access_token, refresh_token });
    return error && "Could not sign in with the development account.";
  } catch {
    return "The service cannot be reached.";
  }
}
