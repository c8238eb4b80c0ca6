export { NotificationSettings as default } from "./notification-settings.tsx";

export const metadata = { title: "Notifications" };
