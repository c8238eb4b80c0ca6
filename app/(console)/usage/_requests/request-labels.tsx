import type { LoggedRequest } from "@/lib/requests/contract.ts";
import { Badge } from "../../_ui/badge.tsx";

/** An HTTP status, in color if the request was refused or failed. */
export function StatusBadge({ status }: { readonly status: number }) {
  const tone = status >= 500 ? "danger" : status >= 400 ? "warning" : "neutral";
  return (
    <Badge tone={tone} className="tabular-nums">
      {status}
    </Badge>
  );
}

export const CREDENTIAL_LABELS = {
  api_key: "API keys",
  bearer: "Console and bearer",
  run: "Sandboxes of runs",
} as const satisfies Record<LoggedRequest["credential"], string>;

/** Returns what a request was made with, in words. */
export function credentialOf(
  { credential, api_key_id }: LoggedRequest,
  keys: readonly { readonly id: string; readonly key_name: string }[],
): string {
  if (credential !== "api_key") return CREDENTIAL_LABELS[credential];
  return keys.find(({ id }) => id === api_key_id)?.key_name ?? "Revoked key";
}
