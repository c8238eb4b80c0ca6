/** Why a result or a mail was not sent. The database stores the codes. */
import { sentenceOf } from "../platform/database/columns.ts";

/** Mails with results that one account sends a day. */
export const MAX_MAILS_A_DAY = 100;

export const deliveryReason = sentenceOf({
  unsubscribed: "The recipient has unsubscribed",
  bounced: "Mail to the recipient has bounced",
  not_confirmed: "The recipient is no member and has not confirmed",
  run_cancelled: "The run was cancelled",
  run_failed: "The run failed",
  run_deleted: "The run was deleted",
  empty: "The answer is empty",
  policy: "The policy of the account denies it (approvals.delivery)",
  approval: "It waits for an approval",
  not_waiting: "The run no longer waits",
  day_limit: `The account has reached its limit of ${MAX_MAILS_A_DAY} mails a day`,
  unknown: "outcome unknown",
  address_refused: "The mail server rejects the address",
  mail_refused: "The mail server rejects the mail",
  unavailable: "The mail server is not available",
});
