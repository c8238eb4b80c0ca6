import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { platform } from "node:os";

/** Opens a folder without the right to read it. Node.js lacks the constant of Linux. */
const O_PATH = 0o10000000;

export interface OpenFolder {
  /** Leads to the folder until it is closed, even if a command replaces the folder. */
  readonly path: string;
  readonly mode: number;
  close(): void;
}

/**
 * Opens a folder of a sandbox without following a link. While commands run, only paths below an open folder stay where
 * they are.
 *
 * @throws Error when the path is not a folder
 */
export function openFolder(path: string): OpenFolder {
  // Sandboxes whose commands can make links need Linux.
  if (platform() !== "linux") return { path, mode: lstatSync(path).mode, close: () => {} };
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { path: `/proc/self/fd/${fd}`, mode: fstatSync(fd).mode, close: () => closeSync(fd) };
}
