import { openPageContract } from "@/lib/catalog/contract.ts";
import { catalogProvider } from "@/lib/catalog/provider.ts";
import { appError } from "@/lib/contract/app-error.ts";
import { route } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(openPageContract, async ({ query }) => {
    const location = catalogProvider().pageOf(query.type, query.id);
    if (location === null) return appError("not_found", "Not found");
    return { status: 302, headers: { location } };
  }),
});
