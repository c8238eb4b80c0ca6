export { SchedulePage as default } from "../schedule-page.tsx";

export const metadata = { title: "Schedule" };
