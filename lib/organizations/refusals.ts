/** The refusals of the organizations' SQL functions as errors, by the value of `refused`. */
import { appError } from "../contract/app-error.ts";
import { refusalOf } from "../contract/refusal.ts";

const HOUR_SECONDS = 3600;

/** Reads `{refused}` as its error. */
export const refusal = refusalOf({
  missing: appError("not_found", "Organization not found"),
  missing_member: appError("not_found", "Member not found"),
  missing_invitation: appError("not_found", "Invitation not found"),
  not_owner: appError("not_owner", "Only an owner of the organization can do this"),
  not_personal: appError("forbidden", "Only a personal account can create organizations"),
  last_owner: appError(
    "conflict",
    "The last owner of an organization must stay its owner: make another member an owner first",
  ),
  member: appError("conflict", "The account of this address is a member already"),
  account_full: appError(
    "quota_exceeded",
    "The account belongs to too many organizations: leave one to make room",
  ),
  organization_full: appError("organization_full", "The organization has too many members"),
  invitations_full: appError(
    "quota_exceeded",
    "The organization has too many open invitations: withdraw one to make room",
  ),
  limited: appError("too_many_invitations", "Too many invitations", {
    headers: { "retry-after": String(HOUR_SECONDS) },
  }),
});
