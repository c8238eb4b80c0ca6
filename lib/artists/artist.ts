/** The artist as callers see it: a separate account that others act for. */

import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";

export const artist = z
  .object({
    account_id: uuid.describe("What requests take as `account_id` or `artistId`"),
    name: z.string(),
    label: z.string().nullable(),
    image: z.string().nullable(),
    catalog_artist_id: z
      .string()
      .nullable()
      .describe("The artist's `id` in the catalog (`GET /api/catalog/search`), if it is linked"),
    organization_id: uuid.nullable().describe("Null for an artist of one account alone"),
    created_at: dateTime,
  })
  .meta({ id: "Artist" });
export type Artist = z.output<typeof artist>;
