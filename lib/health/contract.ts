/** The endpoints of liveness, readiness and the OpenAPI document. */

import { contract } from "@platform/endpoint/contract/contract";
import { z } from "zod";

const part = z.object({
  name: z.enum([
    "database",
    "identity",
    "durableRuns",
    "sandbox",
    "model",
    "mail",
    "connectors",
    "catalog",
    "research",
    "search",
    "taskRunner",
    "content",
    "mediaStorage",
  ]),
  adapter: z.string().describe("The adapter in use, such as `supabase` or `embedded`."),
});

const shared = {
  method: "GET",
  tag: "Service",
  family: "error",
  auth: "none",
  runCredential: true,
  words: "own",
} as const;

export const healthContract = contract({
  ...shared,
  path: "/api/health",
  summary: "Check that the process is alive",
  description: "Names the adapter of each part. Contacts no other service.",
  responses: {
    200: {
      description: "Alive",
      schema: z.object({ status: z.literal("ok"), parts: z.array(part) }),
    },
  },
  errors: [],
});

export type Part = z.output<typeof part>;

const checkedPart = part.extend({
  ready: z.boolean(),
  ms: z.number().describe("Duration of the check in milliseconds; 0 for a part without one."),
});
const readiness = { parts: z.array(checkedPart) };

export const readyContract = contract({
  ...shared,
  path: "/api/health/ready",
  summary: "Check that the service is ready",
  description: "Checks each part that can be checked, with a deadline.",
  responses: {
    200: {
      description: "Every part is ready",
      schema: z.object({ status: z.literal("ready"), ...readiness }),
    },
    503: {
      description: "A part is not ready",
      schema: z.object({ status: z.literal("unavailable"), ...readiness }),
    },
  },
  errors: [],
});

export const openApiContract = contract({
  ...shared,
  path: "/api/openapi.json",
  summary: "Get the OpenAPI document",
  addressLimit: true,
  responses: {
    200: {
      description: "This description of the API, as OpenAPI 3.1",
      schema: z.looseObject({ openapi: z.string() }),
    },
    304: { description: "The document has still the `etag` that `if-none-match` names" },
  },
  errors: [],
});

export const apiTags = { Service: "Health, and this document." };
