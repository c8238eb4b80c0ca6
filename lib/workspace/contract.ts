/** The endpoints of workspaces: versioned files that the sessions of an account or an artist share. */

import {
  contract,
  type RunRule,
  type RunScope,
  successResponse,
} from "@platform/endpoint/contract/contract";
import {
  contentAs,
  queryBoolean,
  queryInteger,
  queryVersion,
  uuid,
  versionNumber,
} from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { strangersFile } from "@platform/endpoint/contract/strangers-file";
import { z } from "zod";
import { MAX_FILE_BYTES, workspacePath, workspaceVersion } from "./workspace-file.ts";

const artistId = uuid.optional().meta({
  description: "The artist whose workspace it is. Default: the workspace of the account",
});
const ofWorkspace = z.object({ artist_id: artistId });
const path = workspacePath.meta({
  description: "The path of the file, relative to the workspace and without `..`",
});
const ofFile = ofWorkspace.extend({ path });
const shared = {
  tag: "Workspace",
  family: "error",
  auth: "required",
  artistAccess: { in: "query", field: "artist_id" },
} as const;

type Request = Parameters<RunRule["allows"]>[0];
const isOwn = ({ query, body }: Request, run: RunScope): boolean =>
  (ofWorkspace.parse(body ?? query).artist_id ?? null) === run.artistId;

const reads: RunRule = {
  only: "for the workspace of the same session, unless `workspace` is `off`",
  allows: (request, run) => run.workspace !== "off" && isOwn(request, run),
};
const writes: RunRule = {
  only: "for the workspace of the same session, if `workspace` is `write`",
  allows: (request, run) => run.workspace === "write" && isOwn(request, run),
};
/** Deletions caused by injected text must be restorable. */
const deletes: RunRule = {
  only: "for the workspace of the same session, if `workspace` is `write`, and without `permanent`",
  allows: (request, run) =>
    writes.allows(request, run) &&
    !z.object({ permanent: z.literal(true) }).safeParse(request.query).success,
};

export const listWorkspaceFilesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/workspace/files",
  runCredential: reads,
  words: "workspace",
  tool: true,
  summary: "List the files of a workspace, the last changed first",
  query: pageQuery.extend({
    artist_id: artistId,
    prefix: z.string().max(500).normalize("NFC").optional().meta({
      description: "Only files whose path starts with it, such as `contracts/`",
    }),
  }),
  responses: pageResponse("files", workspaceVersion),
  errors: [],
});

export const readWorkspaceFileContract = contract({
  ...shared,
  method: "GET",
  path: "/api/workspace/files/content",
  runCredential: reads,
  words: ["workspace", strangersFile],
  tool: true,
  summary: "Read a file of a workspace",
  description: "As an attachment that browsers do not execute.",
  query: ofFile.extend({
    version: queryVersion(1, "Default: the newest version"),
    as: contentAs,
  }),
  responses: {
    200: {
      description: "The file's bytes",
      bytes: ["text/plain; charset=utf-8", "application/octet-stream", "application/json"],
    },
  },
  errors: ["not_found"],
});

const written = z.object({ status: z.literal("success"), file: workspaceVersion });
const expectedVersion = queryVersion(
  0,
  "The version that the change is based on, 0 for a new file: 409 if there is another. Default: any",
);

export const writeWorkspaceFileContract = contract({
  ...shared,
  method: "PUT",
  path: "/api/workspace/files/content",
  runCredential: writes,
  words: "own",
  effect: "write",
  summary: "Write a file of a workspace",
  description:
    "The raw body, at most 100 MiB, becomes a new version of the file, when all of it has arrived. The content that the file has already makes no version. A workspace has at most 1 GiB, earlier versions included, and 10,000 files. The newest 100 versions of a file stay; one that was replaced more than 90 days ago does not.",
  query: ofFile.extend({ expected_version: expectedVersion }),
  byteBodyLimit: MAX_FILE_BYTES,
  responses: {
    200: { description: "The new version of a file", schema: written },
    201: { description: "The new file", schema: written },
  },
  errors: ["quota_exceeded", "conflict"],
});

export const deleteWorkspaceFileContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/workspace/files/content",
  runCredential: deletes,
  words: "own",
  effect: "write",
  summary: "Delete a file of a workspace",
  description: "Its versions stay for 90 days, and any of them can be restored.",
  query: ofFile.extend({
    permanent: queryBoolean.optional().meta({
      description: "Deletes all versions, too, which makes room. Nothing can be restored",
    }),
  }),
  responses: successResponse("It is deleted", {}),
  errors: ["not_found"],
});

export const listWorkspaceVersionsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/workspace/versions",
  runCredential: reads,
  words: "workspace",
  tool: true,
  summary: "List the versions of a file, newest first",
  query: pageQuery.extend({ artist_id: artistId, path }),
  responses: pageResponse("versions", workspaceVersion),
  errors: ["not_found"],
});

export const restoreWorkspaceFileContract = contract({
  ...shared,
  method: "POST",
  path: "/api/workspace/restore",
  artistAccess: { in: "body", field: "artist_id" },
  runCredential: writes,
  words: "own",
  effect: "write",
  tool: true,
  summary: "Restore a version of a file",
  description: "It becomes the newest version. The file may be deleted.",
  body: ofFile.extend({ version: versionNumber }),
  responses: { 200: { description: "The newest version", schema: written } },
  errors: ["not_found", "quota_exceeded", "conflict"],
});

export const searchWorkspaceContract = contract({
  ...shared,
  method: "GET",
  path: "/api/workspace/search",
  runCredential: reads,
  words: "workspace",
  tool: true,
  summary: "Search the text files of a workspace",
  description:
    "Finds files with all words of `q` in their first 100,000 characters, the best first; the last word may be the beginning of one. " +
    "If there are none, words with typing errors are replaced by similar ones of the workspace.",
  query: ofWorkspace.extend({
    q: z.string().trim().min(1).max(250).meta({ description: "The words to find" }),
    limit: queryInteger({ min: 1, max: 50, default: 20 }).describe("How many files to find"),
  }),
  responses: successResponse("The files that were found", {
    results: z.array(
      z.object({
        path: z.string(),
        version: z.int(),
        snippet: z.string().meta({ description: "The passage that was found, as plain text" }),
      }),
    ),
  }),
  errors: [],
});

export const apiTags = {
  Workspace: "Versioned files that the sessions of an account or of an artist share.",
};
