import { isAppError } from "@/lib/http/app-error.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";
import { readSandboxFileContract } from "@/lib/sandboxes/contract.ts";
import { fileResponse } from "@/lib/sandboxes/file-response.ts";
import { readFile } from "@/lib/sandboxes/read-file.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(readSandboxFileContract, async ({ caller, query, log }) => {
    const file = await readFile({ accountId: caller.accountId, ...query, log });
    return isAppError(file) ? file : fileResponse(file);
  }),
});
