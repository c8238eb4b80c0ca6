import { answer } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { readShareContract } from "@/lib/sessions/shares/contract.ts";
import { readShare } from "@/lib/sessions/shares/share-chat.ts";

// A share that is revoked must be gone at once, from search engines too.
const headers = { "cache-control": "no-store", "x-robots-tag": "noindex, nofollow" };

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readShareContract, ({ params, query }) =>
    answer(readShare(params.token, query), (shared) => ({
      body: { status: "success", ...shared },
      headers,
    })),
  ),
});
