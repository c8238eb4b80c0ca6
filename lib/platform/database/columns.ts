/** Schemas that convert column values of the database's REST API to the forms of the contracts. */
import { z } from "zod";

/** Converts any ISO 8601 form with an offset to UTC with milliseconds. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString());
