import { posix } from "node:path";
import { safeFileName, streamZip, type ZipEntry } from "@platform/kit/zip";

interface FileFacts {
  readonly name: string;
  readonly size: number;
  readonly isText: boolean;
}

/**
 * Returns the response to a file as an attachment that no browser sniffs or executes, because a file
 * that an agent wrote may be hostile.
 */
export const fileResponse = (body: BodyInit, { name, size, isText }: FileFacts): Response =>
  new Response(body, {
    headers: {
      ...attachmentHeaders(name),
      "content-type": isText ? "text/plain; charset=utf-8" : "application/octet-stream",
      "content-length": String(size),
    },
  });

/** Streams a ZIP archive of a folder as an attachment that is named after it. */
export function archiveResponse(
  entries: AsyncIterable<ZipEntry>,
  { path = "files" }: { readonly path?: string | undefined },
): Response {
  const name = posix.basename(posix.resolve("/", path)) || "files";
  return new Response(streamZip(entries), {
    headers: { ...attachmentHeaders(`${name}.zip`), "content-type": "application/zip" },
  });
}

/** Returns the headers of bytes that may be hostile: a browser saves them, and executes nothing if it opens them. */
export const attachmentHeaders = (name: string) => ({
  "content-disposition": attachment(name),
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
});

/** Returns the `content-disposition` of a file to be saved under a safe name. Encodes by RFC 8187, which needs four more characters than a URL. */
export const attachment = (name: string): string => {
  const encoded = encodeURIComponent(safeFileName(name)).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
};
