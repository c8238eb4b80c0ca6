/**
 * The queries of a session's sandbox, whose state is in the session's row. Every function here
 * throws DatabaseUnavailable.
 */
import { z } from "zod";
import { type AppError, appError } from "../contract/app-error.ts";
import { call } from "../platform/database/query.ts";
import type { SandboxState } from "./port.ts";
import { storedSandbox } from "./stored-sandbox.ts";

const missing = z
  .object({ missing: z.literal("session") })
  .transform(() => appError("not_found", "Session not found"));

const found = z
  .object({ session: z.object({ sandboxState: storedSandbox.nullable() }) })
  .transform(({ session }) => ({ sandbox: session.sandboxState }));

/** Errors: 404 `Session not found`. */
export function selectSandbox(
  accountId: string,
  sessionId: string,
): Promise<{ readonly sandbox: SandboxState | null } | AppError> {
  return call(
    "get_session",
    { p_account_id: accountId, p_session_id: sessionId },
    z.union([found, missing]),
  );
}

/**
 * Replaces the sandbox's state if it is still `expected`, and returns the state that is stored
 * then.
 * Errors: 404 `Session not found`.
 */
export function replaceSandboxState(
  accountId: string,
  sessionId: string,
  change: { readonly expected: SandboxState | null; readonly next: SandboxState | null },
): Promise<{ stored: boolean; sandbox: SandboxState | null } | AppError> {
  return call(
    "set_sandbox_state",
    {
      p_account_id: accountId,
      p_session_id: sessionId,
      p_expected: change.expected,
      p_next: change.next,
    },
    z.union([
      z
        .object({ stored: z.boolean(), sandboxState: storedSandbox.nullable() })
        .transform((answer) => ({ stored: answer.stored, sandbox: answer.sandboxState })),
      missing,
    ]),
  );
}
