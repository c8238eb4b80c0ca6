import { fetchWithBearer, networkError, toApiError } from "../../_api/request.ts";
import { toast } from "../../_ui/toast.tsx";
import { pathOf, type RowTarget } from "./row-target.ts";

/** Saves a chat as a file, under the name that the server gives it. */
export async function downloadChat(target: RowTarget, format: "markdown" | "json"): Promise<void> {
  const path = `${pathOf(target)}/export?format=${format}`;
  const response = await fetchWithBearer(path).catch(() => null);
  if (!response?.ok) {
    const error = response ? await toApiError(response) : networkError;
    toast(error.message, "danger");
    return;
  }
  const disposition = response.headers.get("content-disposition") ?? "";
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(disposition)?.[1] ?? "chat";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = decodeURIComponent(encoded);
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href));
}
