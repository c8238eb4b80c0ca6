/** Makes the inputs of a job reachable for a child process of another user. */
import { chmod, copyFile, link, mkdtemp } from "node:fs/promises";
import { basename } from "node:path";
import { runtimePath } from "../../../platform/runtime-path.ts";

export interface LentInputs {
  /** A new folder, to be removed after the job. */
  readonly folder: string;
  /** Where each input is lent, by its own path. */
  readonly paths: ReadonlyMap<string, string>;
}

/**
 * Links the inputs into a new folder inside of `folder`, because the other user may not be allowed to pass
 * through the folders that they are in. It may read them, but not list them.
 *
 * @param inputs real paths, without symbolic links
 */
export async function lendInputs(folder: string, inputs: readonly string[]): Promise<LentInputs> {
  const lent = await mkdtemp(runtimePath(folder, "inputs-"));
  await chmod(lent, 0o711);
  const paths = new Map<string, string>();
  for (const input of new Set(inputs)) {
    const path = runtimePath(lent, `${paths.size}-${basename(input)}`);
    // The inputs may be on another file system, or on one without links.
    await link(input, path).catch(() => copyFile(input, path));
    await chmod(path, 0o644);
    paths.set(input, path);
  }
  return { folder: lent, paths };
}
