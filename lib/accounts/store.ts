/**
 * The caller's own account in the database (supabase/schemas/10_accounts.sql).
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { clearedFields } from "@platform/endpoint/contract/fields";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { hashIdentity } from "../identity/credentials/verify-bearer.ts";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type AccountView, accountView } from "./account.ts";
import type { AccountChanges } from "./contract.ts";

const { account, organizations } = accountView.shape;
const storedAccount = z.object({
  account: rowOf(account),
  organizations: z.array(
    rowOf(organizations.element, { organization_id: "id", organization_name: "name" }),
  ),
});

export const selectAccount = (db: Database, accountId: string): Promise<AccountView> =>
  call(db, "get_account", { accountId }, storedAccount);

export function updateAccount(
  db: Database,
  accountId: string,
  changes: AccountChanges,
): Promise<AccountView> {
  const { name, image, monthly_budget_usd: budget, timezone } = changes;
  return call(
    db,
    "update_account",
    {
      accountId,
      name: name ?? null,
      image: image ?? null,
      monthlyBudgetUsd: budget ?? null,
      allowUnpricedModels: changes.allow_unpriced_models ?? null,
      timezone: timezone ?? null,
      approvals: changes.approvals ?? null,
      clear: clearedFields(changes),
      network: changes.network ?? null,
      autoAcceptMemory: changes.auto_accept_memory ?? null,
      mailWhenWaiting: changes.mail_when_waiting ?? null,
    },
    storedAccount,
  );
}

const refusal = refusalOf({
  not_personal: appError("forbidden", "Only a personal account can be deleted here"),
  mismatch: appError("invalid_request", "confirm must be the account's e-mail address"),
  last_owner: appError(
    "conflict",
    "The account is the last owner of an organization: delete it, or make another member an owner",
  ),
});

/** Errors: 400, 403, 409 for the last owner of an organization; the account then stays in all. */
export function leaveOrganizations(
  db: Database,
  accountId: string,
  email: string,
): Promise<AppError | undefined> {
  const left = z.null().transform(() => undefined);
  return call(db, "leave_organizations", { accountId, email }, z.union([left, refusal]));
}

/** Deletes a batch of the account's rows, and returns whether there may be many more. */
export const deleteAccountRows = (db: Database, accountId: string): Promise<boolean> =>
  call(db, "delete_account_rows", { accountId, batch: 500 });

/** No token that was issued before signs in again. Errors: as `leaveOrganizations`. */
export function removeAccount(
  db: Database,
  accountId: string,
  email: string,
): Promise<AppError | undefined> {
  const done = z.object({ done: z.literal(true) }).transform(() => undefined);
  const hash = hashIdentity(email);
  const args = { accountId, email, identityHash: hash };
  return call(db, "delete_account", args, z.union([done, refusal]));
}

const BATCH = 100;

/** Yields rows of an account in the order of their ids, read in batches. */
export async function* exportRows<S extends z.ZodType>(
  db: Database,
  accountId: string,
  kind: "templates" | "template_versions" | "task_runs" | "turns" | "media",
  row: S,
): AsyncGenerator<z.output<S>> {
  const batch = z.object({ items: z.array(row), next: z.string().nullable() });
  let after: string | null = "";
  while (after !== null) {
    const args = { accountId, kind, after, limit: BATCH };
    const found: z.output<typeof batch> = await call(db, "export_rows", args, batch);
    yield* found.items;
    after = found.next;
  }
}
