/** The caller's account as callers see it. */

import { approvalPolicies } from "@platform/endpoint/contract/approvals";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { networkPolicy } from "@platform/kit/network-policy";
import { z } from "zod";
import { role } from "../organizations/organization.ts";

export const accountView = z.object({
  account: z
    .object({
      id: uuid,
      kind: z.enum(["personal", "organization", "artist", "workspace"]),
      email: z.string().nullable().meta({ description: "Null unless `kind` is `personal`" }),
      name: z.string().nullable(),
      image: z.string().nullable(),
      monthly_budget_usd: z.number().nullable().meta({
        description:
          "What model calls, images and videos of a calendar month (UTC) may cost; null for no budget",
      }),
      allow_unpriced_models: z.boolean().meta({
        description:
          "Whether models without a known price may be used although there is a budget, which cannot count them",
      }),
      approvals: approvalPolicies.meta({
        description: "The policies of agents' effects that are not the defaults",
      }),
      network: networkPolicy.nullable().meta({
        description: "Which hosts the agents of the account may reach; null for every host",
      }),
      auto_accept_memory: z.boolean().meta({
        description:
          "Whether a shorter text for a `MEMORY.md` that the account or its runs have filled replaces it without a person",
      }),
      mail_when_waiting: z.boolean().meta({
        description: "Whether the account gets a mail when a run waits for a person",
      }),
      timezone: z
        .string()
        .nullable()
        .meta({
          description: "The IANA time zone that times are shown and planned in; null until chosen",
          examples: ["Europe/Berlin"],
        }),
      created_at: dateTime,
    })
    .meta({ id: "Account" }),
  organizations: z.array(
    z.object({
      organization_id: uuid,
      organization_name: z.string(),
      role,
    }),
  ),
});
export type AccountView = z.output<typeof accountView>;
