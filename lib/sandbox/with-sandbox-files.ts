import type { Logger } from "pino";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { isSandboxError, type SandboxError, type SandboxFiles, type SandboxState } from "./port.ts";
import { selectSandbox } from "./store.ts";

const uninitialized = appError("sandbox_missing", "Sandbox not initialized");
const readFailed = appError("upstream_error", "Failed to read sandbox files");
export const writeFailed = appError("upstream_error", "Failed to write sandbox files");
/** Not the account's fault, unlike its quota. */
const diskFull = appError("unavailable", "The service has no disk space left", {
  headers: { "retry-after": "60" },
});
const busy = appError("unavailable", "The sandbox is busy", { headers: { "retry-after": "5" } });

export interface FilesRequest {
  readonly accountId: string;
  readonly sessionId: string;
  readonly log: Logger;
}

/**
 * Calls `use` with the files of the session's sandbox.
 * @param refusals the errors to return for refusals of the sandbox itself
 * @param failed the error to return for any other failure of the sandbox
 * Errors: `refusals`, 404 `Session not found`, 400 `Sandbox not initialized`, 502, and 503 when too
 * many requests of the account are waiting, or the disk is full.
 */
export async function withSandboxFiles<T>(
  { accountId, sessionId, log }: FilesRequest,
  use: (files: SandboxFiles) => Promise<T>,
  refusals: Partial<Record<SandboxError["code"], AppError>>,
  failed: AppError = readFailed,
): Promise<T | AppError> {
  const found = await selectSandbox(accountId, sessionId);
  if (isAppError(found)) return found;
  if (found.sandbox === null || !isReachable(found.sandbox)) return uninitialized;
  try {
    return await use(services().sandboxes.openFiles(found.sandbox, accountId));
  } catch (error) {
    const refusal = isSandboxError(error) ? refusals[error.code] : undefined;
    if (refusal) return refusal;
    if (isSandboxError(error) && error.code === "busy") return busy;
    if (isSandboxError(error) && error.code === "disk_full") {
      log.error({ err: error, sessionId }, "the disk is full");
      return diskFull;
    }
    if (await isGone(found.sandbox)) return uninitialized;
    log.error({ err: error, sessionId }, "the sandbox's files could not be used");
    return failed;
  }
}

/** The files of a provider that this server no longer uses are out of reach. */
const isReachable = (state: SandboxState): boolean => state.provider === services().sandboxes.name;

async function isGone(state: SandboxState): Promise<boolean> {
  try {
    return (await services().sandboxes.status(state)) === "expired";
  } catch {
    return false;
  }
}
