/** The sandbox of a session and its files. */

import { contract, type RunRule, successResponse } from "@platform/endpoint/contract/contract";
import { contentAs, dateTime, MAX_PATH_CHARS, uuid } from "@platform/endpoint/contract/fields";
import { strangersFile } from "@platform/endpoint/contract/strangers-file";
import { MAX_STREAMED_BYTES } from "@platform/sandbox/port";
import { z } from "zod";
import { sandboxStatus } from "./stored-sandbox.ts";

export const sandbox = z
  .object({
    provider: z.string().nullable(),
    state: sandboxStatus,
    createdAt: dateTime.nullable(),
    expiresAt: dateTime
      .nullable()
      .meta({ description: "Null for a sandbox that lives until it is stopped" }),
    readyMs: z
      .number()
      .nullable()
      .meta({ description: "How long provisioning took, in milliseconds" }),
  })
  .meta({ id: "Sandbox", description: "Every field but `state` is null when `state` is none" });

const answer = { sessionId: uuid, sandbox };
const ofSession = z.object({ sessionId: uuid.describe("The session's `id`") });

const ofItsOwnSession: RunRule = {
  only: "for the sandbox of its own session",
  allows: ({ query }, run) => ofSession.safeParse(query).data?.sessionId === run.sessionId,
};

const shared = { path: "/api/sandbox", tag: "Sandbox", family: "error", auth: "required" } as const;

export const provisionSandboxContract = contract({
  ...shared,
  method: "POST",
  tool: true,
  summary: "Provision the sandbox of a session",
  description: "Repeated and simultaneous requests return the same sandbox.",
  body: ofSession,
  responses: successResponse("The session's sandbox", answer),
  errors: ["sandboxes_full", "not_found", "upstream_error"],
});

export const getSandboxContract = contract({
  ...shared,
  method: "GET",
  runCredential: ofItsOwnSession,
  words: "own",
  tool: true,
  summary: "Read the state of a session's sandbox",
  description: "Asks the provider, so that a sandbox that has ended is reported as such.",
  query: ofSession,
  responses: successResponse("The session's sandbox", answer),
  errors: ["not_found", "upstream_error"],
});

export const stopSandboxContract = contract({
  ...shared,
  method: "DELETE",
  summary: "Stop a session's sandbox and delete its files; runs that use it are stopped",
  query: ofSession,
  responses: successResponse("The session has no sandbox", answer),
  errors: ["not_found", "upstream_error"],
});

/** A path inside the sandbox. Reads do not wait for commands and never follow a link out of it. */
const path = z.string().min(1).max(MAX_PATH_CHARS);

export const sandboxFile = z
  .object({
    name: z.string(),
    path: z
      .string()
      .meta({ description: "Absolute inside the sandbox, as `path` of a request accepts it" }),
    type: z.enum(["file", "directory"]),
    size: z.int().meta({ description: "In bytes; 0 for a directory" }),
    modifiedAt: dateTime,
  })
  .meta({ id: "SandboxFile" });

export const listSandboxFilesContract = contract({
  ...shared,
  path: "/api/sandbox/files",
  method: "GET",
  runCredential: ofItsOwnSession,
  words: "own",
  tool: true,
  summary: "List a folder of a session's sandbox",
  description:
    "The first 1,000 entries by name; `path` is absolute or relative to the sandbox's home, its default.",
  query: ofSession.extend({
    path: path.optional().meta({ description: "A folder. Default: the sandbox's home" }),
  }),
  responses: successResponse("The folder's entries", {
    sessionId: uuid,
    path: z.string().meta({ description: "The folder's absolute path inside the sandbox" }),
    entries: z.array(sandboxFile),
    truncated: z.boolean().meta({ description: "True when the folder has more entries" }),
  }),
  errors: ["not_found", "sandbox_missing", "upstream_error"],
});

export const readSandboxFileContract = contract({
  ...shared,
  path: "/api/sandbox/files/content",
  method: "GET",
  runCredential: ofItsOwnSession,
  words: strangersFile,
  tool: true,
  summary: "Read a file of a session's sandbox",
  description: "At most 10 MiB, as an attachment that browsers do not execute.",
  query: ofSession.extend({
    path: path.meta({ description: "A file, absolute or relative to the sandbox's home" }),
    as: contentAs,
  }),
  responses: {
    200: {
      description: "The file's bytes",
      bytes: ["text/plain; charset=utf-8", "application/octet-stream", "application/json"],
    },
  },
  errors: ["not_found", "sandbox_missing", "upstream_error"],
});

const written = z.object({
  status: z.literal("success"),
  file: z.object({
    path: z.string().meta({ description: "Absolute inside the sandbox" }),
    size: z.int().meta({ description: "In bytes" }),
    modified_at: dateTime,
  }),
});

export const writeSandboxFileContract = contract({
  ...shared,
  path: "/api/sandbox/files/content",
  method: "PUT",
  runCredential: ofItsOwnSession,
  words: "own",
  effect: "write",
  summary: "Write a file of a session's sandbox",
  description:
    "The raw body, at most 100 MiB, becomes the file. Its folders are created, and a file that is " +
    "there is replaced when the whole body has arrived. Waits for a command of the session that is running.",
  query: ofSession.extend({
    path: path.meta({ description: "A file, absolute or relative to the sandbox's home" }),
  }),
  byteBodyLimit: MAX_STREAMED_BYTES,
  responses: {
    200: { description: "The file that was replaced", schema: written },
    201: { description: "The new file", schema: written },
  },
  errors: ["not_found", "sandbox_missing", "sandboxes_full", "upstream_error"],
});

export const removeSandboxFileContract = contract({
  ...shared,
  path: "/api/sandbox/files",
  method: "DELETE",
  runCredential: ofItsOwnSession,
  words: "own",
  effect: "write",
  summary: "Delete a file or folder of a session's sandbox",
  description:
    "A folder goes with all that is in it. Waits for a command of the session that is running.",
  query: ofSession.extend({
    path: path.meta({
      description: "A file or folder, absolute or relative to the sandbox's home",
    }),
  }),
  responses: successResponse("It is deleted", {}),
  errors: ["not_found", "sandbox_missing", "upstream_error"],
});

export const archiveSandboxContract = contract({
  ...shared,
  path: "/api/sandbox/archive",
  method: "GET",
  runCredential: ofItsOwnSession,
  words: "own",
  summary: "Download a folder of a session's sandbox as a ZIP archive",
  description:
    "At most 10,000 files and folders, as each is when it is read; `path` is absolute or relative to " +
    "the sandbox's home, its default. A download that fails midway is cut short.",
  query: ofSession.extend({
    path: path.optional().meta({ description: "A folder. Default: the sandbox's home" }),
  }),
  responses: { 200: { description: "The archive", bytes: ["application/zip"] } },
  errors: ["not_found", "sandbox_missing", "upstream_error"],
});

export const apiTags = { Sandbox: "Where the agent's tools act." };
