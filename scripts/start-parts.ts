import { startEmbedded } from "./embedded/start-embedded.ts";
import { embeddedParts, hostedParts, type StartParts } from "./parts.ts";

/** Starts the embedded parts, unless `given` names a Supabase project. */
export const startParts: StartParts = async ({ dataDir, publicUrl, given }) => {
  if (given.SUPABASE_URL) return hostedParts();
  const embedded = await startEmbedded({
    dataDir,
    siteUrl: publicUrl,
    mail: { smtpUrl: given.SMTP_URL, from: given.MAIL_FROM },
    waits: true,
  });
  return embeddedParts(embedded, given.API_KEY_SECRET);
};
