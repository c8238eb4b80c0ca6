import { join } from "node:path";
import { hasAccounts } from "./has-accounts.ts";
import type { Parts } from "./parts.ts";

/**
 * Prints the URL, the location of sign-in codes while no mail is sent, and, until an account
 * exists, how to create one.
 *
 * @param options.keyCommand the command that creates an API key
 */
export async function printWelcome(options: {
  url: string;
  parts: Parts;
  dataDir: string;
  keyCommand: string;
}): Promise<void> {
  const { url, parts, dataDir, keyCommand } = options;
  const place = parts.embedded ? `(data in ${dataDir})` : "with the configured Supabase project";
  console.log(`\nReady on ${url} ${place}\n`);
  if (parts.embedded && !process.env.SMTP_URL) {
    console.log(
      `No mail is sent, because SMTP_URL is not set: sign-in codes are in ${join(dataDir, "mailbox")}\n`,
    );
  }
  if (await hasAccounts({ ...process.env, ...parts.env })) return;
  console.log(
    "There is no account yet. To create one and print its API key, run:\n\n" +
      `${keyCommand} --email you@example.com\n`,
  );
}
