"use client";
import { useAccount } from "../_hooks/shared-reads.ts";
import { Loaded, Loading } from "../_ui/states.tsx";
import { DeleteAccount } from "./delete-account.tsx";
import { ExportAccount } from "./export-account.tsx";
import { ProfileForm } from "./profile-form.tsx";

export function AccountSettings() {
  return (
    <Loaded
      query={useAccount()}
      loading={<Loading label="Loading…" className="h-64 w-full rounded-xl" />}
    >
      {({ account }) => (
        <>
          <ProfileForm account={account} />
          <ExportAccount />
          {account.email !== null && <DeleteAccount email={account.email} />}
        </>
      )}
    </Loaded>
  );
}
