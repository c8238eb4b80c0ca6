import type { FileContent } from "./read-file.ts";

/**
 * Returns the file as an attachment that no browser sniffs or executes, because a file that an
 * agent wrote may be hostile.
 */
export function fileResponse({ name, bytes, isText }: FileContent): Response {
  return new Response(bytes, {
    headers: {
      "content-type": isText ? "text/plain; charset=utf-8" : "application/octet-stream",
      "content-length": String(bytes.byteLength),
      "content-disposition": `attachment; filename*=UTF-8''${encodeName(name)}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    },
  });
}

/** Percent-encodes a file name by RFC 8187, which needs four more characters than a URL. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
