/** The endpoints of connections between an account and third-party services. */
import { z } from "zod";
import { contract } from "../contract/contract.ts";
import { dateTime, uuid } from "../contract/fields.ts";
import { isSafeCallback } from "./check-callback.ts";

const slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "connector must be a slug of at most 64 lower-case letters, digits, hyphens and underscores",
  );

const connection = z
  .object({
    id: z.string(),
    connector: z.string(),
    status: z
      .enum(["pending", "active", "inactive", "expired", "failed"])
      .describe("`pending` until the person has given consent at the redirect URL."),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: "Connection" });
export type Connection = z.output<typeof connection>;

const shared = {
  path: "/api/connectors",
  tag: "Connectors",
  family: "plain",
  auth: "required",
} as const;

export const createConnectionContract = contract({
  ...shared,
  method: "POST",
  summary: "Get the URL at which a person connects a third-party service",
  description:
    "Afterwards, the person is redirected to `callback_url` with `status` (`success` or `failed`) added.",
  accountAccess: { in: "body", field: "account_id" },
  body: z.object({
    connector: slug,
    callback_url: z
      .url()
      .max(2048)
      .refine(isSafeCallback, "callback_url must be https, or http on localhost")
      .nullish(),
    account_id: uuid.nullish().describe("Connect the service for this account"),
  }),
  responses: {
    200: {
      description: "The URL to send the person to",
      schema: z.object({
        success: z.literal(true),
        data: z.object({ connector: z.string(), redirectUrl: z.url() }),
      }),
    },
  },
  errors: ["not_found", "upstream_error", "upstream_timeout", "not_configured"],
});

export const listConnectionsContract = contract({
  ...shared,
  method: "GET",
  summary: "List the account's connections, newest first",
  accountAccess: { in: "query", field: "account_id" },
  query: z.object({ account_id: uuid.optional().describe("The connections of this account") }),
  responses: {
    200: {
      description: "The connections and their statuses",
      schema: z.object({
        success: z.literal(true),
        data: z.object({ connections: z.array(connection) }),
      }),
    },
  },
  errors: ["upstream_error", "upstream_timeout", "not_configured"],
});
