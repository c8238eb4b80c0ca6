/** The catalog in the project's own database. */
import { appError } from "../../contract/app-error.ts";
import type { CatalogProvider } from "../port.ts";
import { findingsQuery, selectAlbums } from "../store.ts";

export function createEmbeddedCatalog(): CatalogProvider {
  return {
    name: "embedded",
    searchQuery: findingsQuery,
    search: (query, read) => read(findingsQuery(query)),
    listAlbums: async (query) =>
      (await selectAlbums(query)) ?? appError("not_found", "Artist not found"),
    pageOf: () => null,
  };
}
