import type { ServedDatabase } from "./embedded/start-lite.ts";

/** The parts that run beside the server processes. */
export type Parts = {
  /** Settings that the application process needs in addition to the given ones. */
  env: Record<string, string>;
  embedded: boolean;
  /** Resolves with a message when a part exits without `stop()`; never when nothing is embedded. */
  died: Promise<string>;
  stop(): Promise<void>;
};

export type StartParts = (options: {
  dataDir: string;
  publicUrl: string;
  given: Readonly<Record<string, string | undefined>>;
}) => Promise<Parts>;

/** Returns the parts where a Supabase project is configured: none. */
export function hostedParts(): Parts {
  return {
    env: {},
    embedded: false,
    died: new Promise(() => {}),
    stop: async () => {},
  };
}

/** @param apiKeySecret the configured one, which has precedence */
export function embeddedParts(
  embedded: ServedDatabase & Pick<Parts, "died" | "stop">,
  apiKeySecret: string | undefined,
): Parts {
  return {
    env: {
      EMBEDDED_SUPABASE: "true",
      DATABASE_URL: embedded.databaseUrl,
      DIRECT_DATABASE_URL: embedded.directDatabaseUrl,
      SUPABASE_URL: embedded.supabaseUrl,
      SUPABASE_SECRET_KEY: embedded.supabaseSecretKey,
      SUPABASE_PUBLISHABLE_KEY: embedded.supabasePublishableKey,
      SUPABASE_JWT_SECRET: embedded.supabaseJwtSecret,
      SUPABASE_JWT_ISSUER: embedded.supabaseJwtIssuer,
      API_KEY_SECRET: apiKeySecret || embedded.apiKeySecret,
    },
    embedded: true,
    died: embedded.died,
    stop: embedded.stop,
  };
}
