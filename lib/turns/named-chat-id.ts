import { createHash } from "node:crypto";

/**
 * Returns the id of the chat that a client has named in `POST /api/chat`: a UUID of version 8 (RFC 9562)
 * that is the same for every request of the account, and reveals nothing about other accounts.
 */
export function namedChatId(accountId: string, name: string): string {
  const given = `${accountId}\n${name.toLowerCase()}`;
  const bytes = createHash("sha256").update(given).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
