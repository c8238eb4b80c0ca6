/** Why a SQL function of organizations refuses, as errors: keys are what it answers as `refused`. */
import { z } from "zod";
import { type AppError, appError } from "../contract/app-error.ts";

const HOUR_SECONDS = 3600;

const errors = {
  missing: appError("not_found", "Organization not found"),
  missing_member: appError("not_found", "Member not found"),
  missing_invitation: appError("not_found", "Invitation not found"),
  not_owner: appError("forbidden", "Only an owner of the organization can do this"),
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
  organization_full: appError("quota_exceeded", "The organization has too many members"),
  invitations_full: appError(
    "quota_exceeded",
    "The organization has too many open invitations: withdraw one to make room",
  ),
  limited: appError("rate_limited", "Too many invitations", {
    headers: { "retry-after": String(HOUR_SECONDS) },
  }),
} as const satisfies Readonly<Record<string, AppError>>;

type Reason = keyof typeof errors;

/** Reads `{refused}` as its error. */
export const refusal = z
  .object({ refused: z.enum(Object.keys(errors) as [Reason, ...Reason[]]) })
  .transform(({ refused }): AppError => errors[refused]);
