/**
 * The caller's own account in the database (supabase/migrations/…_organizations.sql).
 * @throws DatabaseUnavailable from every function here.
 */
import { call } from "../platform/database/query.ts";
import { type AccountView, accountView } from "./account.ts";
import type { AccountChanges } from "./contract.ts";

export const selectAccount = (accountId: string): Promise<AccountView> =>
  call("get_account", { p_account_id: accountId }, accountView);

export function updateAccount(accountId: string, changes: AccountChanges): Promise<AccountView> {
  const { name, image, monthly_budget_usd: budget } = changes;
  return call(
    "update_account",
    {
      p_account_id: accountId,
      p_name: name ?? null,
      p_image: image ?? null,
      p_monthly_budget_usd: budget ?? null,
      p_clear: [
        ...(image === null ? ["image"] : []),
        ...(budget === null ? ["monthly_budget_usd"] : []),
      ],
    },
    accountView,
  );
}
