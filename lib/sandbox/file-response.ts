import type { FileContent } from "./read-file.ts";

/**
 * A file that an agent wrote is hostile: a browser that is led here saves it, and neither guesses
 * what it is nor runs it.
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

/** As RFC 8187 wants it: four characters more than a URL does. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
