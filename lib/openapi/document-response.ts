/** The OpenAPI document of this service, and its response, which is serialized once because it is large. */
import { createHash } from "node:crypto";
import { config } from "../platform/config.ts";
import { describeApi } from "./document.ts";
import { examples } from "./examples.ts";
import { operations } from "./registry.ts";

/** Kept by this module, not by the process: `next dev` evaluates it again when a contract changes. */
let described: ReturnType<typeof describeApi> | undefined;

/** Returns the OpenAPI document of this service. */
function describeService() {
  described ??= describeApi(operations, examples, config().PUBLIC_URL);
  return described;
}

interface Serialized {
  readonly text: string;
  readonly etag: string;
}

/** By document, because `next dev` makes another one when a contract changes. */
const serialized = new WeakMap<object, Serialized>();

function serialize(): Serialized {
  const document = describeService();
  const known = serialized.get(document);
  if (known) return known;
  const text = JSON.stringify(document);
  // Weak, because the server compresses the text.
  const etag = `W/"${createHash("sha256").update(text).digest("base64url")}"`;
  const made = { text, etag };
  serialized.set(document, made);
  return made;
}

/** Responds with 304 to a client that names the document's `etag` in `if-none-match`. */
export function documentResponse(headers: Headers): Response {
  const { text, etag } = serialize();
  const shared = { etag, "cache-control": "no-cache" };
  const known = headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => tag.trim() === etag)) {
    return new Response(null, { status: 304, headers: shared });
  }
  return new Response(text, { headers: { ...shared, "content-type": "application/json" } });
}
