/** How the console imports code on demand, and how it finds out that a deployment has replaced that code. */

const CHUNK = /\/_next\/static\/[^\s'"?)]+/;

let outdated = false;
const listeners = new Set<() => void>();

/** Whether the server no longer has the code of this page. Only a reload brings the page up to date. */
export const isOutdated = (): boolean => outdated;

export function onOutdated(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Imports a module on demand, and finds out whether a failure is for good: see `isOutdated`.
 *
 * @throws the error of the import, which a later attempt may avoid
 */
export async function loadModule<T>(importModule: () => Promise<T>): Promise<T> {
  try {
    return await importModule();
  } catch (error) {
    await checkChunk(error);
    throw error;
  }
}

/** A chunk that could not be loaded, because the server cannot be reached or does not have it any more. */
export const isLoadFailure = (error: unknown): boolean =>
  error instanceof Error && error.name === "ChunkLoadError";

/**
 * Asks the server for the chunk that an error names. A lost connection proves nothing; 404 does.
 *
 * @param error of a failed import, or its text as a worker reports it. Errors without a chunk are ignored
 */
export async function checkChunk(error: unknown): Promise<void> {
  const path = CHUNK.exec(String(error))?.[0];
  if (outdated || path === undefined) return;
  const response = await fetch(path, { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (response?.status !== 404) return;
  outdated = true;
  for (const listener of listeners) listener();
}
