import type { z } from "zod";
import { type ApiError, api } from "@/app/(console)/_api/request.ts";
import type { createConnectionContract } from "@/lib/connectors/contract.ts";

type Started = z.output<(typeof createConnectionContract.responses)[200]["schema"]>;

/** The API accepts only these origins as callbacks, and otherwise returns to its configured one. */
const canReturnHere = (): boolean =>
  location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** Leaves for the consent page of a service, which leads back here. Resolves to the error, if any. */
export async function connectService(
  connector: string,
  accountId: string | null,
): Promise<ApiError | null> {
  const account = accountId === null ? "" : `?account=${accountId}`;
  const result = await api<Started>("/api/connectors", {
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
