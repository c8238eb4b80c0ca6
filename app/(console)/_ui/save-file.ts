import { fetchWithBearer, networkError, toApiError } from "../_api/request.ts";
import { toast } from "./toast.tsx";

/** Has the browser save a file under this name. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** Saves what the API answers at a path, under a name or the one that the server gives it. Shows a failure. */
export async function download(path: string, name?: string): Promise<void> {
  try {
    const response = await fetchWithBearer(path);
    if (!response.ok) return toast((await toApiError(response)).message, "danger");
    const disposition = response.headers.get("content-disposition") ?? "";
    const given = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1] ?? "file";
    saveFile(name ?? decodeURIComponent(given), await response.blob());
  } catch {
    toast(networkError.message, "danger");
  }
}
