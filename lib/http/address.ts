/** The network address of a caller, as this service's settings say who appends to `x-forwarded-for`. */
import { clientAddress, isFromForeignPage } from "@platform/endpoint/client-address";
import { config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";

/** Returns the bucket of an address limit. */
export function addressOf(headers: Headers): string {
  const { VERCEL, TRUSTED_PROXIES = VERCEL ? 1 : 0 } = config();
  return clientAddress(headers, TRUSTED_PROXIES);
}

/** Returns the bucket of an address limit, in which foreign pages of a person's browser are apart from the person. */
export const senderOf = (headers: Headers): string =>
  isFromForeignPage(headers, serviceOrigin())
    ? `${addressOf(headers)} by another site`
    : addressOf(headers);
