import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";
import { listSandboxFilesContract } from "@/lib/sandboxes/contract.ts";
import { listFiles } from "@/lib/sandboxes/list-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(listSandboxFilesContract, async ({ caller, query, log }) => {
    const listing = await listFiles({ accountId: caller.accountId, ...query, log });
    if (isAppError(listing)) return listing;
    return { body: { status: "success", sessionId: query.sessionId, ...listing } };
  }),
});
