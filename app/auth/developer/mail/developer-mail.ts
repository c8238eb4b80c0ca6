/**
 * Mails that a development server has written to its mailbox folder instead of sending them. They contain
 * sign-in codes, so the development sign-in must be on, and no SMTP server may be configured.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { appError } from "@platform/endpoint/contract/app-error";
import { errorResponse } from "@platform/endpoint/error-response";
import PostalMime from "postal-mime";
import { mailboxFolder } from "@/lib/mail/mailbox-folder.ts";
import { type Config, config } from "@/lib/platform/config.ts";
import { hasDeveloperSignIn, isLocalPage } from "../developer-sign-in.ts";

export interface DeveloperMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** ISO 8601. */
  readonly sentAt: string;
}

const MAX_MAILS = 30;

export const hasDeveloperMail = (settings: Config = config()): boolean =>
  hasDeveloperSignIn(settings) && settings.SMTP_URL === undefined;

/** Responds with the newest mails first; 404 where there are none to read, 403 to any other page or machine. */
export async function listDeveloperMail(request: Request): Promise<Response> {
  if (!hasDeveloperMail()) return errorResponse(appError("not_found", "Not found"), "error");
  if (!isLocalPage(request.headers)) {
    return errorResponse(appError("forbidden", "Only for pages of this machine"), "error");
  }
  // Names start with the time. The first mail creates the folder.
  const names = await readdir(mailboxFolder()).catch((): string[] => []);
  const newest = names
    .filter((name) => name.endsWith(".eml"))
    .sort()
    .slice(-MAX_MAILS)
    .reverse();
  const mails = await Promise.all(newest.map(readMail));
  return Response.json(
    { mails: mails.filter((mail) => mail !== null) },
    { headers: { "cache-control": "no-store" } },
  );
}

/** Returns null for a mail that was removed in the meantime. */
async function readMail(name: string): Promise<DeveloperMail | null> {
  const file = await readFile(join(mailboxFolder(), name)).catch(() => null);
  if (file === null) return null;
  const { to, subject = "", text = "", date = "" } = await PostalMime.parse(file);
  const receivers = (to ?? []).map(({ address }) => address ?? "").join(", ");
  return { id: name, to: receivers, subject, text: text.trim(), sentAt: date };
}
