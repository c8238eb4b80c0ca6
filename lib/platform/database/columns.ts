/** Column values as the database's REST interface spells them, parsed into the contract's forms. */
import { z } from "zod";

/** Any ISO spelling with an offset becomes UTC with milliseconds. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString());
