/**
 * The queries of sandboxes: the state, which is in the session's row, and the disk space of an account's
 * local sandboxes. Every function here throws DatabaseUnavailable.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import type { SandboxSpace, SandboxState } from "@platform/sandbox/port";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { storedSandbox } from "./stored-sandbox.ts";

const missing = z
  .object({ missing: z.literal("session") })
  .transform(() => appError("not_found", "Session not found"));

const found = z
  .object({ session: z.object({ sandbox_state: storedSandbox.nullable() }) })
  .transform(({ session }) => ({ sandbox: session.sandbox_state }));

/** Errors: 404 `Session not found`. */
export function selectSandbox(
  db: Database,
  accountId: string,
  sessionId: string,
): Promise<{ readonly sandbox: SandboxState | null } | AppError> {
  return call(db, "get_session", { accountId, sessionId }, z.union([found, missing]));
}

/**
 * Replaces the sandbox's state if it is still `expected`, and returns the state that is stored
 * then.
 * Errors: 404 `Session not found`.
 */
export function replaceSandboxState(
  db: Database,
  accountId: string,
  sessionId: string,
  change: { readonly expected: SandboxState | null; readonly next: SandboxState | null },
): Promise<{ stored: boolean; sandbox: SandboxState | null } | AppError> {
  return call(
    db,
    "set_sandbox_state",
    { accountId, sessionId, expected: change.expected, next: change.next },
    z.union([
      z
        .object({ stored: z.boolean(), sandboxState: storedSandbox.nullable() })
        .transform((answer) => ({ stored: answer.stored, sandbox: answer.sandboxState })),
      missing,
    ]),
  );
}

const reservation = z.object({ granted: z.int(), reservedAt: z.string().nullable() });

/** @param limitBytes the limit for all sandboxes of an account together */
export function accountSpace(db: Database, limitBytes: number): SandboxSpace {
  return {
    async reserve(sessionId, wantedBytes) {
      const args = { sessionId, wanted: wantedBytes, limit: limitBytes };
      const { granted, reservedAt } = await call(db, "reserve_sandbox_bytes", args, reservation);
      return {
        grantedBytes: granted,
        settle: (bytes) => recordSandboxBytes(db, sessionId, reservedAt, bytes),
      };
    },
  };
}

/** Replaces a reservation by the measured size, unless there is a newer reservation. */
export async function recordSandboxBytes(
  db: Database,
  sessionId: string,
  reservedAt: string | null,
  bytes: number,
): Promise<void> {
  await call(db, "record_sandbox_bytes", { sessionId, reservedAt, bytes });
}

/** Returns whether the sandboxes of an account have reached the limit. */
export const isSandboxSpaceFull = (
  db: Database,
  accountId: string,
  limitBytes: number,
): Promise<boolean> => call(db, "is_sandbox_space_full", { accountId, limit: limitBytes });
