import { methods } from "@platform/endpoint/methods";
import { proxyImageContract } from "@/lib/content/contract.ts";
import { proxyImage } from "@/lib/content/proxy-image.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(proxyImageContract, ({ app, caller, query, request }) =>
    proxyImage(app, caller.accountId, query.url, query.width, request.signal),
  ),
});
