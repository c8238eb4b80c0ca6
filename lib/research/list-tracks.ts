import type { App } from "../app.ts";
import type { AppError } from "../contract/app-error.ts";
import type { ResearchTrack } from "./contract.ts";

/**
 * Returns all tracks of an artist; `id` takes precedence over `artist`.
 *
 * Errors: 404 `Artist not found`, 429 with `retry-after`, 501, 502, 504.
 */
export function listTracks(
  { research }: Pick<App, "research">,
  query: { readonly artist?: string | undefined; readonly id?: string | undefined },
): Promise<readonly ResearchTrack[] | AppError> {
  const { artist = "", id } = query;
  return research.listTracks(id === undefined ? { name: artist } : { id });
}
