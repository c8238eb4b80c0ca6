import { useState } from "react";
import type { Connection, createConnectionContract } from "@/lib/connectors/contract.ts";
import type { Answer, ApiError } from "../_api/request.ts";
import { useSubmit } from "../_hooks/use-submit.ts";

/** The API accepts only these origins as callbacks, and otherwise returns to its configured one. */
const canReturnHere = (): boolean =>
  location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** Returns what leaves for the consent page of a service, which leads back here, and why that failed. */
export function useConnect(accountId: string | null) {
  const { send, busy, error } = useSubmit();
  const [isLeaving, setLeaving] = useState(false);
  const connect = async (connector: string): Promise<string | null> => {
    const account = accountId === null ? "" : `?account=${accountId}`;
    const result = await send<Answer<typeof createConnectionContract>>("/api/connectors", {
      body: {
        connector,
        ...(accountId !== null && { account_id: accountId }),
        ...(canReturnHere() && { callback_url: `${location.origin}/connectors${account}` }),
      },
    });
    if (!result.ok) return describe(result.error);
    // The button stays busy while the browser leaves this page.
    setLeaving(true);
    location.assign(result.data.data.redirectUrl);
    return null;
  };
  return { connect, busy: busy || isLeaving, errorText: error ? describe(error) : undefined };
}

function describe({ code, fields, message }: ApiError): string {
  if (code === "not_found") return "This service is not available. Check its name.";
  return fields.includes("connector")
    ? "Enter the short name of a service: letters, digits, hyphens and underscores."
    : message;
}

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
