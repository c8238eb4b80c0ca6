/** The option `deliver` of runs and tasks, and the endpoints of deliveries and their addresses. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, emailAddress, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";

const MAX_ENTRIES = 5;
const MAX_RECIPIENTS = 20;
const MAX_PATTERNS = 10;
const MAX_PATTERN_CHARS = 200;

const pattern = z
  .string()
  .trim()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .refine((text) => !/\p{Cc}/u.test(text), { error: "A pattern must be a single line" })
  .refine((text) => !text.startsWith("/") && !text.split("/").includes(".."), {
    error: "A pattern must be relative to /home/agent",
  });

const entry = z.strictObject({
  kind: z.literal("email"),
  to: z.array(emailAddress).min(1).max(MAX_RECIPIENTS).meta({
    description:
      "The account's own address, addresses of the members that it can list in its organizations, and confirmed ones of `GET /api/delivery-addresses`. Each gets a separate mail",
  }),
  subject: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .refine((text) => !/\p{Cc}/u.test(text), { error: "subject must be a single line" })
    .optional()
    .meta({ description: "The title of the task or the chat when absent" }),
  attach: z
    .array(pattern)
    .max(MAX_PATTERNS)
    .optional()
    .meta({
      description:
        "Patterns of files of the run's sandbox, relative to /home/agent: `*` stays within a folder, `**` crosses folders. At most 10 MiB in total; the mail names the files that do not fit",
      examples: [["reports/*.xlsx"]],
    }),
  format: z.enum(["full", "summary"]).optional().meta({
    description: "`summary` is the first paragraph and a link to the run. Default: `full`",
  }),
});

/** The recipients of a run's result. */
export const deliver = z
  .array(entry)
  .max(MAX_ENTRIES)
  .refine((entries) => recipientsOf(entries).length <= MAX_RECIPIENTS, {
    error: `deliver must have at most ${MAX_RECIPIENTS} recipients`,
  })
  .refine((entries) => new Set(recipientsOf(entries)).size === recipientsOf(entries).length, {
    error: "deliver must name each recipient once",
  })
  .meta({
    description:
      "Who gets the answer by mail, once the run has completed. The platform sends it, exactly once per run and recipient. An empty answer and the answer of a failed run are withheld.",
  });
export type Deliver = z.output<typeof deliver>;

/** As a change of a task names it. An empty list or text removes it. */
export const deliverChange = z
  .union([deliver, z.literal("")], {
    error: `deliver must be a list of at most ${MAX_ENTRIES} deliveries`,
  })
  .optional()
  .meta({ description: "Who gets the answers by mail. An empty list or text removes them." });

export const recipientsOf = (entries: readonly { readonly to: readonly string[] }[]): string[] =>
  entries.flatMap(({ to }) => to);

/** The delivery of a run's result, as fields of the run. */
export const deliveryFields = {
  delivery: z.enum(["pending", "sent", "withheld", "failed"]).nullable().meta({
    description:
      "What became of the answer under `deliver`; null for a run without it. `failed` if a recipient did not get it",
  }),
  delivery_reason: z
    .string()
    .nullable()
    .meta({ description: "Why it was withheld, or why a delivery failed" }),
};

export const delivery = z
  .object({
    id: uuid,
    kind: z.enum(["email", "notice", "waiting"]).meta({
      description:
        "`notice` for a mail to the owner that the answer was withheld, `waiting` for one that the run waits for a person",
    }),
    to: z.string(),
    status: z.enum(["pending", "sending", "sent", "failed"]),
    attempts: z.int().nonnegative(),
    error: z.string().optional().meta({
      description:
        "Why it failed, or the last attempt did. `outcome unknown` if the mail server may have taken the mail: it is not sent again",
    }),
    sent_at: dateTime.optional(),
  })
  .meta({ id: "Delivery" });

export const ownDelivery = delivery.extend({ run_id: z.string(), created_at: dateTime });

export const deliveryAddress = z
  .object({
    id: uuid,
    address: z.string(),
    state: z.enum(["pending", "confirmed", "unsubscribed", "bounced"]).meta({
      description:
        "`pending` until its holder has confirmed. A `bounced` one gets mail again once it is confirmed again, an `unsubscribed` one once its holder asks for it",
    }),
    created_at: dateTime,
  })
  .meta({ id: "DeliveryAddress" });
export type DeliveryAddress = z.output<typeof deliveryAddress>;

const shared = { tag: "Deliveries", family: "error", auth: "required" } as const;

export const listRunDeliveriesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/chat/runs/{runId}/deliveries",
  summary: "List the deliveries of a run",
  description: "One for each recipient. They are kept for 30 days after they have ended.",
  params: z.object({ runId: z.string().describe("The run's `runId`") }),
  responses: successResponse("The deliveries", { deliveries: z.array(delivery) }),
  errors: ["not_found"],
});

export const createDeliveryAddressContract = contract({
  ...shared,
  method: "POST",
  path: "/api/delivery-addresses",
  summary: "Ask an address to take results by mail",
  description:
    "Sends a link with which its holder confirms, valid for a day and once; a repetition sends another one. The answer does not depend on whether the address has an account or can receive mail. An account has at most 100 addresses and sends at most 20 links a day.",
  body: z.object({ address: emailAddress }),
  responses: {
    201: {
      description: "The address",
      schema: z.object({ status: z.literal("success"), address: deliveryAddress }),
    },
  },
  errors: ["quota_exceeded", "rate_limited", "upstream_error", "upstream_timeout"],
});

export const listDeliveryAddressesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/delivery-addresses",
  summary: "List the delivery addresses of the account, newest first",
  query: pageQuery,
  responses: pageResponse("addresses", deliveryAddress),
  errors: [],
});

export const deleteDeliveryAddressContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/delivery-addresses/{id}",
  summary: "Delete a delivery address",
  description: "Results that wait for it fail.",
  params: z.object({ id: uuid.describe("The address's `id`") }),
  responses: successResponse("The address was deleted", {}),
  errors: ["not_found"],
});

export const apiTags = { Deliveries: "Results of runs by mail, and the addresses that take them." };
