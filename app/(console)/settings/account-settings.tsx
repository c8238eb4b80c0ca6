"use client";
import { useAccount } from "../_hooks/shared-reads.ts";
import { ErrorState, Loading } from "../_ui/states.tsx";
import { DeleteAccount } from "./delete-account.tsx";
import { ExportAccount } from "./export-account.tsx";
import { ProfileForm } from "./profile-form.tsx";

export function AccountSettings() {
  const { data, error, reload } = useAccount();
  if (error) return <ErrorState error={error} onRetry={reload} />;
  if (data === undefined) {
    return <Loading label="Loading…" className="h-64 w-full rounded-xl" />;
  }
  return (
    <>
      <ProfileForm account={data.account} />
      <ExportAccount />
      {data.account.email !== null && <DeleteAccount email={data.account.email} />}
    </>
  );
}
