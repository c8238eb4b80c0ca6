import type { Metadata } from "next";
import { NotificationSettings } from "./notification-settings.tsx";

export const metadata: Metadata = { title: "Notifications" };

export default function NotificationSettingsPage() {
  return <NotificationSettings />;
}
