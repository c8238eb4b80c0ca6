import { fetchWithBearer, networkError, toApiError } from "../../_api/request.ts";
import { saveFile } from "../../_ui/save-file.ts";
import { toast } from "../../_ui/toast.tsx";
import { pathOf, type RowTarget } from "./row-target.ts";

/** Saves a chat as a file, under the name that the server gives it. */
export async function downloadChat(target: RowTarget, format: "markdown" | "json"): Promise<void> {
  const path = `${pathOf(target)}/export?format=${format}`;
  try {
    const response = await fetchWithBearer(path);
    if (!response.ok) return toast((await toApiError(response)).message, "danger");
    const disposition = response.headers.get("content-disposition") ?? "";
    const encoded = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1] ?? "chat";
    saveFile(decodeURIComponent(encoded), await response.blob());
  } catch {
    toast(networkError.message, "danger");
  }
}
