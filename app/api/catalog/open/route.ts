import { appError } from "@platform/endpoint/contract/app-error";
import { methods } from "@platform/endpoint/methods";
import { openPageContract } from "@/lib/catalog/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(openPageContract, async ({ app, query }) => {
    const location = app.catalog.pageOf(query.type, query.id);
    if (location === null) return appError("not_found", "Not found");
    return { status: 302, headers: { location } };
  }),
});
