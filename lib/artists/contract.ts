/** The endpoints of the artists that an account works for. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { accountImage, accountName, singleLine, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import { artist } from "./artist.ts";

const shared = { tag: "Artists", family: "error", auth: "required" } as const;
const one = z.object({ status: z.literal("success"), artist });
const byId = z.object({ account_id: uuid.describe("The artist's `account_id`") });

const label = singleLine("label");
const catalogArtistId = z
  .string()
  .regex(
    /^[A-Za-z0-9]{1,64}$/,
    "catalog_artist_id must be the id of an artist in the catalog: 1 to 64 letters and digits",
  );

export const createArtistContract = contract({
  ...shared,
  method: "POST",
  path: "/api/artists",
  tool: true,
  summary: "Create an artist",
  description:
    "With `organization_id` all members work for the artist, otherwise the caller alone. An " +
    "organization and an account have at most 1,000 artists each.",
  organizationAccess: { in: "body", field: "organization_id" },
  body: z.object({
    name: accountName,
    label: label.nullish().describe("The record label"),
    image: accountImage.nullish(),
    catalog_artist_id: catalogArtistId
      .nullish()
      .describe("The artist's `id` in the catalog; whether the catalog has it is not checked"),
    organization_id: uuid
      .nullish()
      .describe("An organization that the caller is or is a member of"),
  }),
  responses: { 201: { description: "The artist", schema: one } },
  errors: ["quota_exceeded"],
});
export type NewArtist = z.output<typeof createArtistContract.body>;

export const listArtistsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/artists",
  runCredential: true,
  words: "own",
  tool: true,
  summary: "List the artists that the caller works for, newest first",
  accountAccess: { in: "query", field: "account_id" },
  query: pageQuery.extend({
    org_id: uuid
      .optional()
      .describe("Only those of this organization: none unless the caller belongs to it"),
    account_id: uuid.optional().describe("Those of this account instead of the caller's"),
  }),
  responses: pageResponse("artists", artist),
  errors: [],
});

export const loadExampleContract = contract({
  ...shared,
  method: "POST",
  path: "/api/artists/example",
  summary: "Load the example: an invented artist with a contract, statements and a release plan",
  description:
    "Everything in it is invented. Its files are in its workspace. A repetition returns the same artist, adds files that were deleted, and changes none.",
  responses: { 201: { description: "The artist", schema: one } },
  errors: ["quota_exceeded"],
});

export const getArtistContract = contract({
  ...shared,
  method: "GET",
  path: "/api/artists/{account_id}",
  runCredential: true,
  words: "own",
  tool: true,
  summary: "Read an artist",
  params: byId,
  responses: { 200: { description: "The artist", schema: one } },
  errors: ["not_found"],
});

const changes = z.object({
  name: accountName.optional(),
  label: label.nullable().optional().describe("Null removes it"),
  image: accountImage.nullable().optional().describe("Null removes it"),
  catalog_artist_id: catalogArtistId.nullable().optional().describe("Null removes it"),
});
export type ArtistChanges = z.output<typeof changes>;

export const updateArtistContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/artists/{account_id}",
  tool: true,
  summary: "Change an artist",
  description:
    "For everyone who works for the artist, but no viewer. Omitted fields stay unchanged.",
  params: byId,
  body: changes,
  responses: { 200: { description: "The artist", schema: one } },
  errors: ["access_denied", "not_found"],
});

export const deleteArtistContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/artists/{account_id}",
  summary: "Delete an artist with everything that it owns",
  description:
    "For owners of its organization, or the account that it belongs to. Permanent. What other " +
    "accounts have done for it stays: sessions lose their artist, scheduled prompts are disabled. " +
    "Connections at a vendor stay there.",
  params: byId,
  responses: successResponse("Done", {}),
  errors: ["not_owner", "not_found"],
});

export const apiTags = { Artists: "The artists that an account works for." };
