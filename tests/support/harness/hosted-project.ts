import { startFakeStorage } from "../fakes/supabase-storage.ts";
import { setting } from "./stack.ts";

/** Starts a gateway that makes a hosted project of the shared database. */
export async function startHostedProject() {
  const project = await startFakeStorage({
    url: setting("SUPABASE_URL"),
    secretKey: setting("SUPABASE_SECRET_KEY"),
    publishableKey: setting("SUPABASE_PUBLISHABLE_KEY"),
  });
  // The issuer of the embedded project, which issues the tokens.
  project.auth.issuer = setting("SUPABASE_JWT_ISSUER");
  return {
    ...project,
    /** The settings that make a server of the product use it. */
    env: { EMBEDDED_SUPABASE: "false", SUPABASE_URL: project.origin },
  };
}

export type HostedProject = Awaited<ReturnType<typeof startHostedProject>>;
