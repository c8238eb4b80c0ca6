/**
 * Content templates in the database (supabase/schemas/65_content.sql). They belong to no account and
 * are the same for everyone. @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type ContentTemplate, contentTemplate, templateSummary } from "./template.ts";

/** Returns all templates without pages, because supabase/seed.sql has few. */
export const selectContentTemplates = (db: Database): Promise<z.output<typeof templateSummary>[]> =>
  call(db, "list_content_templates", {}, z.array(templateSummary));

const rows = z.array(z.object({ id: z.string() }).loose());

/** Errors: 404 `Template not found`. */
export async function selectContentTemplate(
  db: Database,
  id: string,
): Promise<ContentTemplate | AppError> {
  const found = (await call(db, "list_content_templates", {}, rows)).find((row) => row.id === id);
  if (!found) return appError("not_found", "Template not found");
  const present = Object.entries(found).filter(([, value]) => value !== null);
  return contentTemplate.parse(Object.fromEntries(present));
}
