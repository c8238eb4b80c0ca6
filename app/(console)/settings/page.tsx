import { AccountSettings } from "./account-settings.tsx";

export default function AccountSettingsPage() {
  return <AccountSettings />;
}
