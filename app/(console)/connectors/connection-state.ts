import type { Connection } from "@/lib/connectors/contract.ts";

export const CONNECTION_STATES = {
  active: { tone: "success", label: "Connected" },
  pending: { tone: "warning", label: "Waiting for consent" },
  expired: { tone: "neutral", label: "Expired" },
  failed: { tone: "danger", label: "Not connected" },
  inactive: { tone: "neutral", label: "Inactive" },
} as const;

/** The active connection to a service, else the newest. */
export function connectionTo(slug: string, all: readonly Connection[]): Connection | undefined {
  const own = all.filter(({ connector }) => connector === slug);
  return own.find(({ status }) => status === "active") ?? own[0];
}
