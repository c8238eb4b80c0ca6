import { previewDocument } from "@platform/documents/preview-document";
import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { readSandboxFileContract, writeSandboxFileContract } from "@/lib/sandbox/contract.ts";
import { fileResponse } from "@/lib/sandbox/file-response.ts";
import { describeWrittenFile, readFile, writeFile } from "@/lib/sandbox/sandbox-files.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readSandboxFileContract, ({ app, caller: { accountId }, query, request, log }) =>
    answer(readFile(app, { accountId, ...query, log }), async (file) =>
      query.as
        ? previewDocument({ accountId, queue: app.queues.documents }, file, request.signal)
        : fileResponse(file.bytes, { ...file, size: file.bytes.byteLength }),
    ),
  ),
  PUT: endpoint(writeSandboxFileContract, ({ app, caller: { accountId }, query, request, log }) =>
    answer(writeFile(app, { accountId, ...query, request, log }), describeWrittenFile),
  ),
});
