/** Liveness, readiness and the description of the API. */
import { z } from "zod";
import { contract } from "../contract/contract.ts";

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
    "taskRunner",
    "content",
    "mediaStorage",
  ]),
  adapter: z
    .string()
    .describe("Which side of the port is in use, such as `supabase` or `embedded`."),
});

export const healthContract = contract({
  method: "GET",
  path: "/api/health",
  runCredential: true,
  summary: "Is the process alive?",
  description: "Asks nobody else. Tells which adapter each part uses.",
  tag: "Service",
  family: "error",
  auth: "none",
  responses: {
    200: {
      description: "Alive",
      schema: z.object({ status: z.literal("ok"), parts: z.array(part) }),
    },
  },
  errors: [],
});

const checkedPart = part.extend({
  ready: z.boolean(),
  ms: z.number().describe("How long the check took; 0 for a part without one."),
});
const readiness = { parts: z.array(checkedPart) };

export const readyContract = contract({
  method: "GET",
  path: "/api/health/ready",
  runCredential: true,
  summary: "Can it serve?",
  description: "Asks each part that can be asked, with a deadline.",
  tag: "Service",
  family: "error",
  auth: "none",
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
  method: "GET",
  path: "/api/openapi.json",
  runCredential: true,
  summary: "This description, as OpenAPI 3.1",
  tag: "Service",
  family: "error",
  auth: "none",
  responses: {
    200: { description: "OpenAPI 3.1", schema: z.looseObject({ openapi: z.string() }) },
  },
  errors: [],
});
