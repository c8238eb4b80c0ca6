import { fetchWithBearer } from "@/app/(console)/_api/request.ts";

/** Resolves to an object URL of an image in the sandbox; null if it cannot be read. */
export async function readSandboxImage(
  sessionId: string,
  path: string,
  mediaType: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const query = new URLSearchParams({ sessionId, path });
  const init = signal === undefined ? {} : { signal };
  try {
    const response = await fetchWithBearer(`/api/sandbox/files/content?${query}`, init);
    if (!response.ok) return null;
    return URL.createObjectURL(new Blob([await response.blob()], { type: mediaType }));
  } catch {
    return null;
  }
}
