/**
 * The protocol between the server and the jailed runner over the child's IPC channel: one request at a time, one
 * reply to each, and before it any number of messages with output, and with the next deadline of the shell's `timeout`. Only a stop is sent in between, and has no reply.
 * The runner imports only the types.
 */

import type { TurnPolicies } from "@platform/kit/network-policy";
import { z } from "zod";
import type { ExpectedFile } from "../../port.ts";
import type { NetworkRules } from "../network-rules.ts";

/** The runner's only argument. It is visible in the process list, so it has no secrets. */
export interface JailSettings extends NetworkRules {
  /** The real path of the session's folder. */
  readonly dir: string;
  /** In bytes. */
  readonly diskQuota: number;
  /** The limit for files and folders together. */
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

export type JailRequest =
  | {
      readonly op: "run";
      readonly command: string;
      readonly cwd: string | undefined;
      readonly env: Readonly<Record<string, string>>;
      readonly maxOutputChars: number;
      readonly policies?: TurnPolicies | undefined;
    }
  /** Ends the running command, whose reply follows. */
  | { readonly op: "stop" }
  /** Lists the entries of a folder, or all entries below it. */
  | {
      readonly op: "list";
      readonly path: string;
      readonly isDeep: boolean;
      readonly maxEntries: number;
    }
  | { readonly op: "read"; readonly path: string }
  | {
      readonly op: "piece";
      readonly path: string;
      readonly offset: number;
      readonly maxBytes: number;
    }
  | { readonly op: "write"; readonly path: string; readonly content: Uint8Array }
  /** Moves the file of this name in the session's folder to a path of the sandbox. */
  | {
      readonly op: "place";
      readonly path: string;
      readonly staged: string;
      readonly expected: ExpectedFile | undefined;
    }
  | { readonly op: "remove"; readonly path: string; readonly expected: ExpectedFile | undefined };

const entry = z.object({
  path: z.string(),
  type: z.enum(["file", "directory"]),
  size: z.number().int(),
  modifiedAt: z.iso.datetime(),
});

export const jailMessage = z.discriminatedUnion("op", [
  z.object({ op: z.literal("ready") }),
  z.object({
    op: z.literal("output"),
    stream: z.enum(["stdout", "stderr"]),
    text: z.string(),
  }),
  z.object({
    op: z.literal("deadline"),
    inMs: z
      .number()
      .min(0)
      .max(2 ** 30)
      .nullable(),
  }),
  z.object({
    op: z.literal("run"),
    exitCode: z.number().int(),
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean(),
  }),
  z.object({
    op: z.literal("list"),
    path: z.string(),
    entries: z.array(entry),
    truncated: z.boolean(),
  }),
  z.object({ op: z.literal("read"), content: z.instanceof(Uint8Array) }),
  z.object({ op: z.literal("piece"), content: z.instanceof(Uint8Array) }),
  z.object({ op: z.literal("write") }),
  z.object({
    op: z.literal("place"),
    path: z.string(),
    size: z.number().int(),
    modifiedAt: z.iso.datetime(),
    isNew: z.boolean(),
  }),
  z.object({ op: z.literal("remove") }),
  z.object({
    op: z.literal("error"),
    code: z.enum([
      "not_found",
      "refused",
      "changed",
      "no_space",
      "disk_full",
      "too_large",
      "unavailable",
    ]),
    message: z.string(),
  }),
]);

export type JailMessage = z.output<typeof jailMessage>;
export type JailReply = Exclude<JailMessage, { op: "output" | "deadline" }>;
