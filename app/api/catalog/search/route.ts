import { searchCatalogContract } from "@/lib/catalog/contract.ts";
import { searchCatalog, searchCatalogQuery } from "@/lib/catalog/search-catalog.ts";
import { isAppError } from "@/lib/contract/app-error.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(searchCatalogContract, {
    prefetch: ({ query }) => searchCatalogQuery(query),
    async handle({ query, read }) {
      const result = await searchCatalog(query, read);
      return isAppError(result) ? result : { body: result };
    },
  }),
});
