/** The sandbox of a session. Specification: POST /api/sandbox; decisions, section 4. */
import { z } from "zod";
import { contract } from "@/lib/http/contract.ts";
import { dateTime, uuid } from "@/lib/http/fields.ts";
import { sandboxStatus } from "@/lib/sessions/session.ts";

export const sandbox = z
  .object({
    provider: z.string().nullable(),
    state: sandboxStatus,
    createdAt: dateTime.nullable(),
    expiresAt: dateTime.nullable().meta({ description: "Null when it lives until it is stopped" }),
    readyMs: z.number().nullable().meta({ description: "Milliseconds that provisioning took" }),
  })
  .meta({ id: "Sandbox", description: "Every field but `state` is null when `state` is none" });

const answer = z.object({ status: z.literal("success"), sessionId: uuid, sandbox });
const ofSession = z.object({ sessionId: uuid });

const shared = {
  path: "/api/sandbox",
  tag: "Sandbox",
  family: "error",
  auth: "required",
} as const;

export const provisionSandboxContract = contract({
  ...shared,
  method: "POST",
  summary: "Provision the sandbox of a session",
  description: "Repeated or simultaneous requests answer the one sandbox of the session.",
  body: ofSession,
  responses: { 200: { description: "The session's sandbox", schema: answer } },
  errors: ["not_found", "upstream_error"],
});

export const getSandboxContract = contract({
  ...shared,
  method: "GET",
  summary: "Read the state of a session's sandbox",
  query: ofSession,
  responses: { 200: { description: "The session's sandbox", schema: answer } },
  errors: ["not_found", "upstream_error"],
});

export const stopSandboxContract = contract({
  ...shared,
  method: "DELETE",
  summary: "Stop a session's sandbox and delete its files; runs that use it are stopped",
  query: ofSession,
  responses: { 200: { description: "The session has no sandbox", schema: answer } },
  errors: ["not_found", "upstream_error"],
});
