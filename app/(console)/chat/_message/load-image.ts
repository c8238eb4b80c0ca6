import { fetchWithBearer } from "@/app/(console)/_api/request.ts";

/** Resolves to an object URL of an image of the web, fetched by the service; null if there is none. */
export async function loadImage(url: string): Promise<string | null> {
  try {
    const response = await fetchWithBearer(`/api/media/proxy?${new URLSearchParams({ url })}`);
    return response.ok ? URL.createObjectURL(await response.blob()) : null;
  } catch {
    return null;
  }
}
