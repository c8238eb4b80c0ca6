import { visibleName } from "@platform/kit/visible-name";
import { fetchWithBearer, networkError, toApiError } from "../_api/request.ts";
import { toast } from "./toast.tsx";

/** Has the browser save a file under this name. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = visibleName(name);
  link.click();
  // The browser has started to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** Saves the response for a path, under the given name or the server's. Shows an error if it fails. */
export async function download(path: string, name?: string): Promise<void> {
  const response = await fetchFile(path);
  const disposition = response?.headers.get("content-disposition") ?? "";
  const given = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1] ?? "file";
  if (response) saveFile(name ?? decodeURIComponent(given), await response.blob());
}

/** Opens a PDF with the browser's own viewer, which gives its scripts no access to this origin. Shows a failure. */
export async function openPdf(path: string): Promise<void> {
  const response = await fetchFile(path);
  if (!response) return;
  const pdf = new Blob([await response.blob()], { type: "application/pdf" });
  // The address lives as long as this page: the viewer may read the file again.
  open(URL.createObjectURL(pdf), "_blank", "noopener");
}

async function fetchFile(path: string): Promise<Response | null> {
  const response = await fetchWithBearer(path).catch(() => null);
  if (response?.ok) return response;
  toast((response ? await toApiError(response) : networkError).message, "danger");
  return null;
}
