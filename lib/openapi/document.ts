/** The OpenAPI document of this service, and its response, which is serialized once because it is large. */

import { createHash } from "node:crypto";
import { describeApi } from "@platform/endpoint/openapi/document";
import type { RecordedExchanges } from "@platform/endpoint/openapi/examples";
import { config } from "../platform/config.ts";
import { examples } from "./examples.ts";
import { operations, tagsOf } from "./registry.ts";

/** The first tags of the reference, in their order; others follow. */
const FIRST_TAGS = [
  "Chat",
  "Sessions",
  "Sandbox",
  "Workspace",
  "Models",
  "Sign-up",
  "Keys",
  "Account",
  "Organizations",
  "Artists",
  "Agent templates",
  "Skills",
  "MCP servers",
  "Content",
  "Tasks",
  "Approvals",
  "Deliveries",
  "Webhooks",
  "Usage",
  "Connectors",
  "Catalog",
  "Research",
  "MCP",
  "Service",
];

/** The description of each tag, in the order of the reference. */
export const tags: Readonly<Record<string, string>> = Object.fromEntries(
  [...new Set([...FIRST_TAGS, ...Object.keys(tagsOf)])].map((name) => [name, tagsOf[name] ?? ""]),
);

/** Returns the document. @param examples by operation id */
export const describeService = (
  examples: Readonly<Record<string, RecordedExchanges>>,
  serverUrl = "/",
) =>
  describeApi(
    {
      info: {
        title: "Agent Platform API",
        version: "1.0.0",
        license: { name: "MIT", identifier: "MIT" },
        description:
          "Send exactly one credential: an API key in `x-api-key` or in `Authorization: Bearer`, or a bearer token. " +
          "The agent's sandbox has a credential of its own for each run, in `AGENT_API_AUTH_HEADER`: " +
          "it acts for the caller's account, ends with the run, and may only call what says so. " +
          "Every response carries `x-request-id`, every error `x-error-code`. " +
          "An optional field may be `null` as if it were absent; a body is read as JSON whatever its content type. " +
          "Fields of bodies and query parameters are also accepted in the other of camelCase and snake_case. " +
          "Unknown fields are refused in bodies whose schema has no additional properties, which start or configure an agent. " +
          "Elsewhere, and in queries, they are ignored and named in the response header `x-ignored-fields`: " +
          "at most 20 names, separated by commas and percent-encoded. " +
          "With the header `Prefer: handling=strict` (RFC 7240) they are refused everywhere.",
      },
      servers: [{ url: serverUrl }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          apiKey: {
            type: "apiKey",
            in: "header",
            name: "x-api-key",
            description: "A key of `POST /api/keys` or `POST /api/agents/verify`.",
          },
          bearer: {
            type: "http",
            scheme: "bearer",
            description:
              "A JWT of the identity provider, whose e-mail names a personal account, or an API key.",
          },
        },
      },
    },
    operations,
    examples,
  );

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
