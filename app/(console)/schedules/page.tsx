import type { Metadata } from "next";
import { SchedulesPage } from "./schedules-page.tsx";

export const metadata: Metadata = { title: "Schedules" };

export default function Schedules() {
  return <SchedulesPage />;
}
