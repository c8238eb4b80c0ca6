import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
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
 * Opens a folder of a sandbox without following a link, and until it is closed with all rights of its owner, which a
 * command may have taken away. While commands run, only paths below an open folder stay where they are.
 *
 * @throws Error when the path is not a folder
 */
export function openFolder(given: string): OpenFolder {
  // Sandboxes whose commands can make links need Linux.
  const isLinux = platform() === "linux";
  const fd = isLinux ? openSync(given, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW) : -1;
  const path = isLinux ? `/proc/self/fd/${fd}` : given;
  const { mode } = isLinux ? fstatSync(fd) : lstatSync(given);
  const setMode = (wanted: number) => (mode & 0o500) === 0o500 || chmodSync(path, wanted);
  const close = () => {
    try {
      setMode(mode);
    } finally {
      if (isLinux) closeSync(fd);
    }
  };
  try {
    setMode(mode | 0o700);
    return { path, mode, close };
  } catch (error) {
    if (isLinux) closeSync(fd);
    throw error;
  }
}
