import { isAppError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { searchCatalogContract } from "@/lib/catalog/contract.ts";
import { searchCatalog } from "@/lib/catalog/search-catalog.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(searchCatalogContract, async ({ app, query }) => {
    const result = await searchCatalog(app, query);
    return isAppError(result) ? result : { body: result };
  }),
});
