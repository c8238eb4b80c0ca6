/**
 * Content templates in the database (supabase/schemas/65_content.sql). They belong to no account and
 * are the same for everyone. @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { type AppError, appError } from "../contract/app-error.ts";
import { db } from "../platform/database/client.ts";
import { parseAnswer } from "../platform/database/query.ts";
import { type ContentTemplate, contentTemplate, templateSummary } from "./template.ts";

const templates = () => db().from("content_templates");

/** Returns all templates without pages, because supabase/seed.sql has few. */
export async function selectContentTemplates(): Promise<z.output<typeof templateSummary>[]> {
  const answer = await templates().select("id, description").order("position").order("id");
  return parseAnswer("list content templates", answer, z.array(templateSummary));
}

const row = z
  .record(z.string(), z.unknown())
  .transform((columns) =>
    Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== null)),
  )
  .pipe(contentTemplate);

/** Errors: 404 `Template not found`. */
export async function selectContentTemplate(id: string): Promise<ContentTemplate | AppError> {
  const answer = await templates()
    .select("id, description, image, video, caption, edit")
    .eq("id", id)
    .maybeSingle();
  return (
    parseAnswer("read a content template", answer, row.nullable()) ??
    appError("not_found", "Template not found")
  );
}
