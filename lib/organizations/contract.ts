/** The endpoints of organizations, their members and invitations. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { accountImage, accountName, emailAddress, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import {
  artistIds,
  chosenArtists,
  member,
  organization,
  receivedInvitation,
  role,
  sentInvitation,
} from "./organization.ts";

const shared = { tag: "Organizations", family: "error", auth: "required" } as const;
const status = z.literal("success");
const one = z.object({ status, organization });
const done = successResponse("Done", {});

const organizationId = uuid.describe("The organization's `organization_id`");
const byId = z.object({ id: organizationId });
const memberById = byId.extend({ account_id: uuid.describe("The member's `account_id`") });
const sentById = byId.extend({ invitation_id: uuid.describe("The invitation's `id`") });
const receivedById = z.object({ id: uuid.describe("The invitation's `id`") });

export const createOrganizationContract = contract({
  ...shared,
  method: "POST",
  path: "/api/organizations",
  summary: "Create an organization",
  description: "The caller is its owner. An account belongs to at most 100 organizations.",
  body: z.object({ name: accountName }),
  responses: { 201: { description: "The organization", schema: one } },
  errors: ["forbidden", "quota_exceeded"],
});

export const listOrganizationsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/organizations",
  summary: "List the caller's organizations, newest first",
  query: pageQuery,
  responses: pageResponse("organizations", organization),
  errors: [],
});

export const getOrganizationContract = contract({
  ...shared,
  method: "GET",
  path: "/api/organizations/{id}",
  summary: "Read an organization of the caller's",
  params: byId,
  responses: { 200: { description: "The organization", schema: one } },
  errors: ["not_found"],
});

const changes = z.object({
  name: accountName.optional(),
  image: accountImage.nullable().optional().describe("Null removes it"),
});
export type OrganizationChanges = z.output<typeof changes>;

export const updateOrganizationContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/organizations/{id}",
  summary: "Change an organization",
  description: "For owners. Omitted fields stay unchanged.",
  params: byId,
  body: changes,
  responses: { 200: { description: "The organization", schema: one } },
  errors: ["not_owner", "not_found"],
});

export const deleteOrganizationContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/organizations/{id}",
  summary: "Delete an organization with its artists and everything that they own",
  description: "For owners. Permanent. What its members own stays with them.",
  params: byId,
  responses: done,
  errors: ["not_owner", "not_found"],
});

export const listMembersContract = contract({
  ...shared,
  method: "GET",
  path: "/api/organizations/{id}/members",
  summary: "List the members of an organization, newest first",
  description:
    "A member or viewer that is limited to artists gets itself, the owners and the members that share one of its artists, with these artists only.",
  params: byId,
  query: pageQuery,
  responses: pageResponse("members", member),
  errors: ["not_found"],
});

export const updateMemberContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/organizations/{id}/members/{account_id}",
  summary: "Change the role of a member, and the artists to which it is limited",
  description:
    "For owners. Omitted fields stay unchanged. The last owner stays one: 409. A turn that runs for an artist that its member loses is stopped.",
  params: memberById,
  body: z
    .object({
      role: role.optional(),
      artist_ids: z
        .union([chosenArtists, z.literal("")], { error: "artist_ids must be a list of UUIDs" })
        .optional()
        .meta({ description: "The artists to which it is limited. An empty text ends the limit." }),
    })
    .refine((body) => body.role !== undefined || body.artist_ids !== undefined, {
      error: "One of role, artist_ids must be provided",
    }),
  responses: successResponse("The member", { member }),
  errors: ["not_owner", "not_found", "conflict"],
});

export const removeMemberContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/organizations/{id}/members/{account_id}",
  summary: "Remove a member, or leave an organization",
  description: "Owners remove anyone, and everyone can leave, but for the last owner: 409.",
  params: memberById,
  responses: done,
  errors: ["not_owner", "not_found", "conflict"],
});

export const createInvitationContract = contract({
  ...shared,
  method: "POST",
  path: "/api/organizations/{id}/invitations",
  summary: "Invite an e-mail address to an organization",
  description:
    "For owners. A link goes out by mail, and the invitation is valid for 7 days; it replaces an " +
    "earlier one of the same address. Whether the address has an account shows nowhere. An account " +
    "sends at most 50 invitations a day, and an organization has at most 100 open ones.",
  params: byId,
  body: z.object({ email: emailAddress, role, artist_ids: artistIds.default(null) }),
  responses: {
    201: {
      description: "The invitation",
      schema: z.object({ status, invitation: sentInvitation }),
    },
  },
  errors: [
    "not_owner",
    "organization_full",
    "quota_exceeded",
    "too_many_invitations",
    "not_found",
    "conflict",
    "upstream_error",
    "upstream_timeout",
  ],
});

export const listSentInvitationsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/organizations/{id}/invitations",
  summary: "List the open invitations of an organization, newest first",
  description: "For owners.",
  params: byId,
  query: pageQuery,
  responses: pageResponse("invitations", sentInvitation),
  errors: ["not_owner", "not_found"],
});

export const withdrawInvitationContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/organizations/{id}/invitations/{invitation_id}",
  summary: "Withdraw an open invitation",
  description: "For owners.",
  params: sentById,
  responses: done,
  errors: ["not_owner", "not_found"],
});

export const listInvitationsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/invitations",
  summary: "List the open invitations of the caller's e-mail address, newest first",
  query: pageQuery,
  responses: pageResponse("invitations", receivedInvitation),
  errors: [],
});

export const acceptInvitationContract = contract({
  ...shared,
  method: "POST",
  path: "/api/invitations/{id}/accept",
  summary: "Accept an invitation",
  description:
    "From then on, the caller and the other members can act for each other's accounts by " +
    "`account_id`; a viewer can only read them, and is refused with 403 where `account_id`, an organization " +
    "or an artist of others is named in a request other than `GET`. An organization has at most 500 members.",
  params: receivedById,
  responses: { 200: { description: "The organization", schema: one } },
  errors: ["organization_full", "quota_exceeded", "not_found"],
});

export const declineInvitationContract = contract({
  ...shared,
  method: "POST",
  path: "/api/invitations/{id}/decline",
  summary: "Decline an invitation",
  params: receivedById,
  responses: done,
  errors: ["not_found"],
});

export const apiTags = {
  Organizations: "Organizations, their members, and invitations to join them.",
};
