/** The recipients of results: addresses that must be confirmed, and the check of recipients. */

import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import { withoutLinks } from "@platform/kit/shown-links";
import type { Logger } from "pino";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { type Deliver, type DeliveryAddress, recipientsOf } from "./contract.ts";
import { findRecipientFaults, insertAddress } from "./store.ts";
import { confirmationUrl, newConfirmation } from "./tokens.ts";

/**
 * Adds an address and mails it a link to confirm. The result reveals nothing about the address: one that its mail
 * server refuses, or that has had enough mails today, looks like any other. Errors: as `insertAddress`; 502 and
 * 504 when the mail cannot be sent.
 */
export async function addAddress(
  { db, mail }: Parts<"db" | "mail">,
  accountId: string,
  address: string,
  log: Logger,
): Promise<DeliveryAddress | AppError> {
  const { token, tokenHash } = newConfirmation();
  const added = await insertAddress(db, accountId, address, tokenHash);
  if (isAppError(added) || !added.mail) return isAppError(added) ? added : added.address;
  const sent = await mail.send({
    to: address,
    subject: "Confirm that you want to get results by mail",
    text: letter(withoutLinks(added.account ?? "An account"), confirmationUrl(token)),
  });
  if (sent.kind === "sent") return added.address;
  log.warn({ mailer: mail.name, outcome: sent.kind, cause: sent.cause }, "mail");
  if (sent.kind === "refused") return added.address;
  const code = sent.kind === "timeout" ? "upstream_timeout" : "upstream_error";
  return appError(code, "Failed to send the confirmation");
}

const letter = (account: string, url: string): string =>
  `${account} wants to send you the results of its agents by mail.

Confirm that you want to get them:
${url}

The link can be used once and expires in 24 hours. If you do not know the sender, you can ignore this email: you will get nothing else.
`;

/** Checks that the account may send results to all recipients. Errors: 400, which names the address. */
export async function checkRecipients(
  db: Database,
  accountId: string,
  entries: Deliver | "" | null | undefined,
): Promise<AppError | undefined> {
  const addresses = recipientsOf(entries || []);
  if (addresses.length === 0) return undefined;
  const [first] = await findRecipientFaults(db, accountId, addresses);
  return (
    first &&
    invalidField("deliver", `deliver cannot send to ${first.address}: ${remedyOf(first.fault)}`)
  );
}

const remedyOf = (fault: string): string =>
  `${fault.charAt(0).toLowerCase()}${fault.slice(1)}. Add it with POST /api/delivery-addresses`;
