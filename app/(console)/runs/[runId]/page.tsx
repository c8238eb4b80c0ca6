import { RunPage } from "../_run/run-page.tsx";

export const metadata = { title: "Run" };

export default async function Run({ params }: { readonly params: Promise<{ runId: string }> }) {
  return <RunPage runId={(await params).runId} />;
}
