import { rm } from "node:fs/promises";
import type { CommandOptions, CommandResult, SandboxState } from "../../port.ts";

/** Runs the commands of sandboxes in place of the jail's shell. */
export interface CommandRunner {
  readonly provider: Exclude<SandboxState["provider"], "vercel">;
  /**
   * Runs a command, which ends at the signal.
   * @param folder the session's, with `home` and `tmp`
   */
  run(
    folder: string,
    command: string,
    options: CommandOptions,
    limits: { readonly maxBytes: number; readonly maxFiles: number },
  ): Promise<CommandResult>;
  /** Deletes a session's folder, in which a command of another server may still run. */
  remove(folder: string): Promise<void>;
}

/** Only for a folder in which nothing runs that could put links in its way. */
export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });
