export { SchedulesPage as default } from "./schedules-page.tsx";

export const metadata = { title: "Schedules" };
