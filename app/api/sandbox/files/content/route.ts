import { isAppError } from "@/lib/contract/app-error.ts";
import { answer } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { readSandboxFileContract, writeSandboxFileContract } from "@/lib/sandbox/contract.ts";
import { fileResponse } from "@/lib/sandbox/file-response.ts";
import { describeWrittenFile, readFile, writeFile } from "@/lib/sandbox/sandbox-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readSandboxFileContract, async ({ app, caller, query, log }) => {
    const file = await readFile(app, { accountId: caller.accountId, ...query, log });
    return isAppError(file) ? file : fileResponse(file);
  }),
  PUT: endpoint(writeSandboxFileContract, ({ app, caller, query, request, log }) =>
    answer(
      writeFile(app, { accountId: caller.accountId, ...query, request, log }),
      describeWrittenFile,
    ),
  ),
});
