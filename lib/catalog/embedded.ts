/** The catalog in the project's own database (supabase/migrations/…_catalog.sql). */
import { appError } from "../http/app-error.ts";
import { parseQuery } from "./parse-query.ts";
import type { CatalogProvider } from "./provider.ts";
import { selectAlbums, selectFindings } from "./store.ts";

export function createEmbeddedCatalog(): CatalogProvider {
  return {
    name: "embedded",
    search: (query) => selectFindings(parseQuery(query.q), query),
    listAlbums: async (query) =>
      (await selectAlbums(query)) ?? appError("not_found", "Artist not found"),
    pageOf: () => null,
  };
}
