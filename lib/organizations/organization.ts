/** Organizations, their members and invitations as callers see them. */

import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";

export const role = z.enum(["owner", "member", "viewer"]).meta({
  description: "A viewer reads everything and changes nothing",
});
export type Role = z.output<typeof role>;

export const chosenArtists = z.array(uuid).max(1_000);
export const artistIds = chosenArtists.nullable().meta({
  description:
    "The artists to which a member or viewer is limited; null for the organization with all of its artists. An owner is never limited.",
});

export const organization = z
  .object({
    organization_id: uuid,
    organization_name: z.string(),
    image: z.string().nullable(),
    role: role.describe("The caller's. A viewer reads everything and changes nothing"),
    artist_ids: artistIds,
    created_at: dateTime,
  })
  .meta({ id: "Organization" });
export type Organization = z.output<typeof organization>;

export const member = z
  .object({
    account_id: uuid,
    email: z.string().nullable(),
    name: z.string().nullable(),
    role,
    artist_ids: artistIds,
  })
  .meta({ id: "Member" });
export type Member = z.output<typeof member>;

const invitationFields = { id: uuid, role, created_at: dateTime, expires_at: dateTime };

/** The owners' view. */
export const sentInvitation = z
  .object({ ...invitationFields, artist_ids: artistIds, email: z.string() })
  .meta({ id: "SentInvitation" });
export type SentInvitation = z.output<typeof sentInvitation>;

/** The invited account's view, with only the organization's name. */
export const receivedInvitation = z
  .object({ ...invitationFields, organization_name: z.string() })
  .meta({ id: "ReceivedInvitation" });
export type ReceivedInvitation = z.output<typeof receivedInvitation>;
