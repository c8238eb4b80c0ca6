/** The endpoints of an account's API keys. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, readableText, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";

const createdKey = z
  .object({
    status: z.literal("success"),
    key: z.string().describe("The whole key. Shown this once."),
    id: uuid,
    key_name: z.string(),
    prefix: z.string().describe("The first seven characters."),
    created_at: dateTime,
    expires_at: dateTime.nullable(),
  })
  .meta({ id: "CreatedKey" });

export const listedKey = z
  .object({
    id: uuid,
    key_name: z.string(),
    prefix: z.string(),
    created_at: dateTime,
    last_used_at: dateTime.nullable().describe("Written at most once a minute."),
    expires_at: dateTime
      .nullable()
      .describe(
        "When it stops working: its expiry, or the end of its grace time after a rotation.",
      ),
  })
  .meta({ id: "Key" });

const shared = { tag: "Keys", family: "error", auth: "required" } as const;
const byId = z.object({ id: uuid.describe("The key's `id`") });

export const createKeyContract = contract({
  ...shared,
  method: "POST",
  path: "/api/keys",
  summary: "Create an API key",
  description:
    "The key belongs to the account of the credential and is shown only in this answer. An account has at most 1,000.",
  body: z.object({
    account_id: z.never("account_id must not be provided").optional(),
    key_name: readableText(z.string().trim().min(1).max(100), "key_name").describe(
      "For people, need not be unique",
    ),
    expires_in_days: z.int().min(1).max(3650).optional().describe("Never expires when absent"),
  }),
  responses: { 201: { description: "The new key", schema: createdKey } },
  errors: ["quota_exceeded"],
});

export const listKeysContract = contract({
  ...shared,
  method: "GET",
  path: "/api/keys",
  summary: "List API keys",
  description: "Never the keys themselves, and not the short-lived ones of sandboxes.",
  responses: successResponse("The account's keys, newest first", { keys: z.array(listedKey) }),
  errors: [],
});

export const revokeKeyContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/keys/{id}",
  summary: "Revoke an API key",
  description:
    "It stops working at once. The turns that it has started are cancelled, and its queued messages dropped.",
  params: byId,
  responses: successResponse("Revoked", {}),
  errors: ["not_found"],
});

export const rotateKeyContract = contract({
  ...shared,
  method: "POST",
  path: "/api/keys/{id}/rotate",
  summary: "Replace an API key",
  description:
    "The old key keeps working for `grace_seconds`, and so do the turns that it has started; the new one has its name and lifetime.",
  params: byId,
  body: z.object({
    grace_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .default(0)
      .describe("How long the old key keeps working"),
  }),
  responses: { 201: { description: "The new key", schema: createdKey } },
  errors: ["not_found", "conflict", "quota_exceeded"],
});

export const apiTags = { Keys: "API keys of an account." };
