import { startEmbedded } from "./embedded/start-embedded.ts";

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

/** Starts the embedded parts, unless `given` names a Supabase project. */
export const startParts: StartParts = async (options) => {
  return options.given.SUPABASE_URL
    ? hostedParts()
    : embeddedParts(options.dataDir, options.publicUrl, options.given);
};

function hostedParts(): Parts {
  return {
    env: {},
    embedded: false,
    died: new Promise(() => {}),
    stop: async () => {},
  };
}

async function embeddedParts(
  dataDir: string,
  publicUrl: string,
  given: Readonly<Record<string, string | undefined>>,
): Promise<Parts> {
  const embedded = await startEmbedded({
    dataDir,
    siteUrl: publicUrl,
    mail: { smtpUrl: given.SMTP_URL, from: given.MAIL_FROM },
  });
  return {
    env: {
      EMBEDDED_SUPABASE: "true",
      DATABASE_URL: embedded.databaseUrl,
      SUPABASE_URL: embedded.supabaseUrl,
      SUPABASE_SECRET_KEY: embedded.supabaseSecretKey,
      SUPABASE_PUBLISHABLE_KEY: embedded.supabasePublishableKey,
      SUPABASE_JWT_SECRET: embedded.supabaseJwtSecret,
      SUPABASE_JWT_ISSUER: embedded.supabaseJwtIssuer,
      API_KEY_SECRET: given.API_KEY_SECRET || embedded.apiKeySecret,
    },
    embedded: true,
    died: embedded.died,
    stop: embedded.stop,
  };
}
