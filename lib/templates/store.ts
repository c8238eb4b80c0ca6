/**
 * Agent templates in the database (supabase/schemas/35_templates.sql). Every function takes the
 * account; a template that it may not see answers exactly like a missing one.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { optionsIn } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { compareVersions } from "./compare-versions.ts";
import { listedVersion, type NewTemplate, type TemplateChanges } from "./contract.ts";
import {
  type Template,
  type TemplateComparison,
  type TemplateVersion,
  template,
  templateOptionChanges,
  templateVersion,
} from "./template.ts";

const notFound = appError("not_found", "Template not found");

export const storedTemplate = rowOf(template);
const found = z.object({ template: storedTemplate }).transform((answer) => answer.template);
const missing = refusalOf({
  missing: notFound,
  version: appError("not_found", "Template version not found"),
});
const refusal = (action: "change" | "delete") =>
  refusalOf({
    missing: notFound,
    not_owner: appError("not_owner", `Only the owner can ${action} this template`),
  });

/**
 * Inserts a template with its shares, unless it is public. Repeating an id has no effect.
 * @param turnId of the run that creates it; null for a person
 */
export function insertTemplate(
  db: Database,
  accountId: string,
  id: string,
  values: NewTemplate,
  turnId: string | null,
): Promise<Template> {
  return call(
    db,
    "create_agent_template",
    { ...templateArguments(accountId, values), id, turnId },
    found,
  );
}

export function selectTemplates(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<Template>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_agent_templates", args, pageOf(storedTemplate, page));
}

/** Errors: 404 `Template not found`. */
export function selectTemplate(
  db: Database,
  accountId: string,
  id: string,
): Promise<Template | AppError> {
  return call(db, "get_agent_template", { accountId, id }, z.union([found, missing]));
}

/** Errors: 403 for a visible template of another account; 404. */
export function updateTemplate(
  db: Database,
  accountId: string,
  id: string,
  changes: TemplateChanges,
): Promise<Template | AppError> {
  return call(
    db,
    "update_agent_template",
    { ...templateArguments(accountId, changes), id },
    z.union([found, refusal("change")]),
  );
}

/** Errors: 403 for a visible template of another account; 404. */
export function removeTemplate(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  return call(
    db,
    "delete_agent_template",
    { accountId, id },
    z.union([z.object({ deleted: z.literal(true) }).transform(() => undefined), refusal("delete")]),
  );
}

/** Errors: 404 `Template not found`. */
export function updateFavorite(
  db: Database,
  accountId: string,
  id: string,
  isFavourite: boolean,
): Promise<Template | AppError> {
  return call(
    db,
    "set_agent_template_favorite",
    { accountId, id, isFavourite },
    z.union([found, missing]),
  );
}

const storedListed = rowOf(listedVersion);

/** Errors: 404 `Template not found`. */
export function selectTemplateVersions(
  db: Database,
  accountId: string,
  id: string,
  page: PageRequest,
): Promise<Page<z.output<typeof listedVersion>> | AppError> {
  const args = { accountId, id, ...pageArguments(page) };
  return call(
    db,
    "list_agent_template_versions",
    args,
    z.union([pageOf(storedListed, page), missing]),
  );
}

const storedVersion = rowOf(templateVersion);
const foundVersion = z
  .object({ version: storedVersion, base: storedVersion.nullable() })
  .transform(({ version, base }) =>
    base ? { version, comparison: compareVersions(base, version) } : { version },
  );

/** Errors: 404 `Template not found`, 404 `Template version not found`. */
export const selectTemplateVersion = (
  db: Database,
  accountId: string,
  id: string,
  version: number,
  compareTo: number | undefined,
): Promise<{ version: TemplateVersion; comparison?: TemplateComparison } | AppError> =>
  call(
    db,
    "get_agent_template_version",
    { accountId, id, version, compareTo: compareTo ?? null },
    z.union([foundVersion, missing]),
  );

/** Errors: 403 for a visible template of another account; 404, also for the version. */
export const restoreTemplate = (
  db: Database,
  accountId: string,
  id: string,
  version: number,
): Promise<Template | AppError> =>
  call(
    db,
    "restore_agent_template",
    { accountId, id, version },
    z.union([found, missing, refusal("change")]),
  );

function templateArguments(accountId: string, values: TemplateChanges) {
  return {
    accountId,
    title: values.title ?? null,
    description: values.description ?? null,
    prompt: values.prompt ?? null,
    tags: values.tags ?? null,
    isPrivate: values.is_private ?? null,
    shareEmails: values.share_emails ?? null,
    options: optionsIn(values, templateOptionChanges),
  };
}
