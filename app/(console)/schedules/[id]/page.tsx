import type { Metadata } from "next";
import { SchedulePage } from "../schedule-page.tsx";

export const metadata: Metadata = { title: "Schedule" };

export default async function Schedule({ params }: { readonly params: Promise<{ id: string }> }) {
  return <SchedulePage id={(await params).id} />;
}
