/** The OpenAPI document of this service, and its response, which is serialized once because it is large. */
import { createHash } from "node:crypto";
import { config } from "../platform/config.ts";
import { describeService } from "./document.ts";
import { examples } from "./examples.ts";

/** Kept by this module, not by the process: `next dev` evaluates it again when a contract changes. */
let serialized: { readonly text: string; readonly etag: string } | undefined;

function serialize() {
  const text = JSON.stringify(describeService(examples, config().PUBLIC_URL));
  // Weak, because the server compresses the text.
  const etag = `W/"${createHash("sha256").update(text).digest("base64url")}"`;
  return { text, etag };
}

/** Responds with 304 to a client that names the document's `etag` in `if-none-match`. */
export function documentResponse(headers: Headers): Response {
  serialized ??= serialize();
  const { text, etag } = serialized;
  const shared = { etag, "cache-control": "no-cache" };
  const known = headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => tag.trim() === etag)) {
    return new Response(null, { status: 304, headers: shared });
  }
  return new Response(text, { headers: { ...shared, "content-type": "application/json" } });
}
