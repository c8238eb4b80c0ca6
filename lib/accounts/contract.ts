/** The endpoints of the account that a credential belongs to. */

import { approvalPolicies } from "@platform/endpoint/contract/approvals";
import { contract, successResponse } from "@platform/endpoint/contract/contract";
import {
  accountImage,
  accountName,
  emailAddress,
  timezone,
  uuid,
} from "@platform/endpoint/contract/fields";
import { networkPolicy } from "@platform/kit/network-policy";
import { z } from "zod";
import { accountView } from "./account.ts";

const shared = { tag: "Account", family: "error", auth: "required" } as const;

const me = accountView.extend({
  status: z.literal("success"),
  credential: z.object({
    type: z.enum(["api_key", "bearer"]),
    scope: z.enum(["full", "run"]).describe("`run` for the credential of a sandbox"),
  }),
});

export const getAccountIdContract = contract({
  ...shared,
  method: "GET",
  path: "/api/accounts/id",
  runCredential: true,
  words: "own",
  summary: "Read the id of the caller's account",
  responses: successResponse("The id", { accountId: uuid }),
  errors: [],
});

export const getAccountContract = contract({
  ...shared,
  method: "GET",
  path: "/api/accounts/me",
  runCredential: true,
  words: "own",
  summary: "Read the caller's account, its organizations and what the credential is",
  responses: { 200: { description: "The account", schema: me } },
  errors: [],
});

const changes = z.object({
  name: accountName.optional(),
  image: accountImage.nullable().optional().describe("Null removes it"),
  monthly_budget_usd: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .nullable()
    .optional()
    .describe(
      "What model calls, images and videos of a calendar month (UTC) may cost. Null removes the budget",
    ),
  allow_unpriced_models: z
    .boolean()
    .optional()
    .describe(
      "Whether models without a known price may be used although there is a budget, which cannot count them. Initially false",
    ),
  approvals: approvalPolicies
    .optional()
    .describe(
      "For each kind of effect whether agents act by themselves (`auto`), ask (`ask`), ask once their context has content of a stranger (`ask_when_untrusted`), or must not (`deny`). They replace the present ones; an empty object restores the defaults",
    ),
  network: networkPolicy
    .nullable()
    .optional()
    .describe(
      "Which hosts the agents of the account may reach, in turns that start from then on. Templates, chats, runs and tasks can only narrow it. Null removes it",
    ),
  auto_accept_memory: z
    .boolean()
    .optional()
    .describe(
      "Whether a shorter text for a `MEMORY.md` that the account or its runs have filled replaces it without a person. Initially false",
    ),
  mail_when_waiting: z
    .boolean()
    .optional()
    .describe(
      "Whether the account gets a mail when a run waits for a person: one for a run, and after two minutes in a chat. Initially false",
    ),
  timezone: timezone
    .nullable()
    .optional()
    .describe("The IANA time zone that times are shown and planned in. Null removes it"),
});
export type AccountChanges = z.output<typeof changes>;

export const updateAccountContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/accounts/me",
  summary: "Change the caller's account",
  description: "Omitted fields stay unchanged.",
  strictBody: true,
  body: changes,
  responses: { 200: { description: "The account", schema: me } },
  errors: [],
});

export const deleteAccountContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/accounts/me",
  summary: "Delete the caller's account with everything that it owns",
  description:
    "Permanent: sessions, files, media, artists of its own, templates, keys and memberships. 409 while " +
    "it is the last owner of an organization. A request that fails midway can be repeated. The " +
    "identity provider's user and connections at a vendor stay; who signs in again gets a new account. " +
    "Earlier sign-ins end: a keyed hash of the address, by which their tokens are refused, is kept for 30 days.",
  body: z.object({ confirm: emailAddress.describe("The account's own e-mail address") }),
  responses: successResponse("The account has been deleted", {}),
  errors: ["forbidden", "conflict"],
});

export const exportAccountContract = contract({
  ...shared,
  method: "GET",
  path: "/api/accounts/me/export",
  summary: "Download everything that the caller's account owns as a ZIP archive",
  description:
    "JSON, and the files of media and sandboxes, as each is when it is read. `missing.json` names what " +
    "could not be read. A download that fails midway is cut short.",
  responses: { 200: { description: "The archive", bytes: ["application/zip"] } },
  errors: [],
});

export const apiTags = { Account: "The account of the credential." };
