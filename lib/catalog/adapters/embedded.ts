/** The catalog in the project's own database. */
import { appError } from "../../contract/app-error.ts";
import type { CatalogProvider } from "../port.ts";
import { selectAlbums, selectFindings } from "../store.ts";

export function createEmbeddedCatalog(): CatalogProvider {
  return {
    name: "embedded",
    search: selectFindings,
    listAlbums: async (query) =>
      (await selectAlbums(query)) ?? appError("not_found", "Artist not found"),
    pageOf: () => null,
  };
}
