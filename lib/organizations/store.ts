/**
 * Organizations in the database (supabase/schemas/20_organizations.sql). Every function takes the
 * caller's account; an organization that it does not belong to answers exactly like a missing one.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError, invalidField } from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type {
  createInvitationContract,
  OrganizationChanges,
  updateMemberContract,
} from "./contract.ts";
import {
  type Member,
  member,
  type Organization,
  organization,
  type ReceivedInvitation,
  receivedInvitation,
  sentInvitation,
} from "./organization.ts";

const MAX_ORGANIZATIONS_OF_ACCOUNT = 100;
const MAX_MEMBERS = 500;
const MAX_OPEN_INVITATIONS = 100;
const MAX_INVITATIONS_A_DAY = 50;
/** Of all organizations to one address: more are invitations without a mail. */
const MAX_MAILS_A_DAY = 5;
const INVITATION_DAYS = 7;

const at = (accountId: string, organizationId: string) => ({ accountId, organizationId });

const storedOrganization = rowOf(organization, {
  organization_id: "id",
  organization_name: "name",
});

/** Returns the only organization of the account, or the only one of these that has the artist; null without one. */
export const findOrganizationOfRun = (
  db: Database,
  accountId: string,
  artistId: string | null,
): Promise<string | null> => call(db, "organization_of_run", { accountId, artistId });
const storedMember = rowOf(member, { account_id: "id" });
const storedInvitation = rowOf(sentInvitation);

const found = z
  .object({ organization: storedOrganization })
  .transform((answer) => answer.organization);
const done = z.object({ done: z.literal(true) }).transform(() => undefined);

/** Errors: 403 for an account that does not belong to a person, or is in too many organizations. */
export function insertOrganization(
  db: Database,
  accountId: string,
  name: string,
): Promise<Organization | AppError> {
  const args = { accountId, name, max: MAX_ORGANIZATIONS_OF_ACCOUNT };
  return call(db, "create_organization", args, z.union([found, refusal]));
}

export function selectOrganizations(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<Organization>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_organizations", args, pageOf(storedOrganization, page));
}

/** Errors: 404 `Organization not found`. */
export function selectOrganization(
  db: Database,
  accountId: string,
  id: string,
): Promise<Organization | AppError> {
  return call(db, "found_organization", at(accountId, id), z.union([found, refusal]));
}

/** Errors: 403 for members, 404. */
export function updateOrganization(
  db: Database,
  accountId: string,
  id: string,
  { name, image }: OrganizationChanges,
): Promise<Organization | AppError> {
  const args = {
    ...at(accountId, id),
    name: name ?? null,
    image: image ?? null,
    clearImage: image === null,
  };
  return call(db, "update_organization", args, z.union([found, refusal]));
}

/** The files of its media go with the retention job. Errors: 403 for members, 404. */
export function removeOrganization(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  return call(db, "delete_organization", at(accountId, id), z.union([done, refusal]));
}

/** Errors: 404 `Organization not found`. */
export function selectMembers(
  db: Database,
  accountId: string,
  organizationId: string,
  page: PageRequest,
): Promise<Page<Member> | AppError> {
  const args = { ...at(accountId, organizationId), ...pageArguments(page) };
  return call(
    db,
    "list_organization_members",
    args,
    z.union([pageOf(storedMember, page), refusal]),
  );
}

/** Errors: 400 for an artist of others, 403 for members, 404, 409 for the last owner. */
export function updateMember(
  db: Database,
  accountId: string,
  organizationId: string,
  memberId: string,
  changes: z.output<typeof updateMemberContract.body>,
): Promise<Member | AppError> {
  const args = {
    ...at(accountId, organizationId),
    memberId,
    role: changes.role ?? null,
    limits: changes.artist_ids !== undefined,
    artistIds: changes.artist_ids || null,
  };
  const changed = z.object({ member: storedMember }).transform((answer) => answer.member);
  return call(db, "set_organization_role", args, z.union([changed, refusal]));
}

/** Errors: 403 for members who remove others, 404, 409 for the last owner. */
export function removeMember(
  db: Database,
  accountId: string,
  organizationId: string,
  memberId: string,
): Promise<AppError | undefined> {
  const args = { ...at(accountId, organizationId), memberId };
  return call(db, "remove_organization_member", args, z.union([done, refusal]));
}

const inserted = z.object({
  invitation: storedInvitation,
  /** False when the address has had enough mails today. */
  mail: z.boolean(),
  organization_name: z.string(),
  inviter: z.string().nullable(),
});

/**
 * Errors: 400 for an artist of others, 403 for members and at the limit of open invitations, 404, 409 for a member's
 * address, 429.
 */
export function insertInvitation(
  db: Database,
  accountId: string,
  organizationId: string,
  { email, role, artist_ids }: z.output<typeof createInvitationContract.body>,
): Promise<z.output<typeof inserted> | AppError> {
  const args = {
    ...at(accountId, organizationId),
    email,
    role,
    validDays: INVITATION_DAYS,
    maxPending: MAX_OPEN_INVITATIONS,
    maxADay: MAX_INVITATIONS_A_DAY,
    maxMailsADay: MAX_MAILS_A_DAY,
    artistIds: artist_ids,
  };
  return call(db, "create_invitation", args, z.union([inserted, refusal]));
}

/** Errors: 403 for members, 404. */
export function selectSentInvitations(
  db: Database,
  accountId: string,
  organizationId: string,
  page: PageRequest,
): Promise<Page<z.output<typeof sentInvitation>> | AppError> {
  const args = { ...at(accountId, organizationId), ...pageArguments(page) };
  const schema = z.union([pageOf(storedInvitation, page), refusal]);
  return call(db, "list_organization_invitations", args, schema);
}

/** Errors: 403 for members, 404. */
export function withdrawInvitation(
  db: Database,
  accountId: string,
  organizationId: string,
  id: string,
): Promise<AppError | undefined> {
  const args = { ...at(accountId, organizationId), id };
  return call(db, "withdraw_invitation", args, z.union([done, refusal]));
}

export function selectInvitations(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<ReceivedInvitation>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_invitations", args, pageOf(rowOf(receivedInvitation), page));
}

/** Errors: 403 when the organization or the account is full, 404. */
export function acceptInvitation(
  db: Database,
  accountId: string,
  id: string,
): Promise<Organization | AppError> {
  const args = {
    accountId,
    id,
    maxOrganizations: MAX_ORGANIZATIONS_OF_ACCOUNT,
    maxMembers: MAX_MEMBERS,
  };
  return call(db, "accept_invitation", args, z.union([found, refusal]));
}

/** Errors: 404 `Invitation not found`. */
export function declineInvitation(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  return call(db, "decline_invitation", { accountId, id }, z.union([done, refusal]));
}

const HOUR_SECONDS = 3600;

/** Reads `{refused}` as its error. */
const refusal = refusalOf({
  missing: appError("not_found", "Organization not found"),
  missing_member: appError("not_found", "Member not found"),
  missing_invitation: appError("not_found", "Invitation not found"),
  not_owner: appError("not_owner", "Only an owner of the organization can do this"),
  strange_artist: invalidField("artist_ids", "artist_ids must be artists of the organization"),
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
