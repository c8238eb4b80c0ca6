"use client";
import { useAccount } from "../_hooks/shared-reads.ts";
import { ErrorState } from "../_ui/error-state.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { DeleteAccount } from "./delete-account.tsx";
import { ExportAccount } from "./export-account.tsx";
import { ProfileForm } from "./profile-form.tsx";

export function AccountSettings() {
  const { data, error, reload } = useAccount();
  if (error) return <ErrorState error={error} onRetry={reload} />;
  if (data === undefined) {
    return (
      <div aria-busy="true">
        <p className="sr-only">Loading…</p>
        <Skeleton className="h-64 w-full rounded-xl" />
      </div>
    );
  }
  return (
    <>
      <ProfileForm account={data.account} />
      <ExportAccount />
      {data.account.email !== null && <DeleteAccount email={data.account.email} />}
    </>
  );
}
