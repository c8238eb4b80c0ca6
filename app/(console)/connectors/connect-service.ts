import type { Connection, createConnectionContract } from "@/lib/connectors/contract.ts";
import { type Answer, type ApiError, api } from "../_api/request.ts";

/** The API accepts only these origins as callbacks, and otherwise returns to its configured one. */
const canReturnHere = (): boolean =>
  location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** Leaves for the consent page of a service, which leads back here. Resolves to the error, if any. */
export async function connectService(
  connector: string,
  accountId: string | null,
): Promise<ApiError | null> {
  const account = accountId === null ? "" : `?account=${accountId}`;
  const result = await api<Answer<typeof createConnectionContract>>("/api/connectors", {
    body: {
      connector,
      ...(accountId === null ? {} : { account_id: accountId }),
      ...(canReturnHere() ? { callback_url: `${location.origin}/connectors${account}` } : {}),
    },
  });
  if (!result.ok) return result.error;
  location.assign(result.data.data.redirectUrl);
  return null;
}

export function describeConnectError({ code, fields, message }: ApiError): string {
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
