import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { mailboxFolder } from "../mail/mailbox-folder.ts";
import { services } from "../platform/services.ts";

const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** One pass checks at most this many files. Names start with the time, so the oldest come first. */
const MAX_FILES = 10_000;

/** Deletes old mails and unfinished files from the mailbox folder, and returns their number. */
export async function sweepMailbox(): Promise<number> {
  if (services().mail.name !== "mailbox") return 0;
  const folder = mailboxFolder();
  const oldest = Date.now() - RETENTION_MS;
  // There is no folder before the first mail.
  const names = await readdir(folder).catch((): string[] => []);
  let deleted = 0;
  for (const name of names.sort().slice(0, MAX_FILES)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile() || found.mtimeMs >= oldest) continue;
    await rm(path, { force: true });
    deleted += 1;
  }
  return deleted;
}
