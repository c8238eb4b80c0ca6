import { answer, created } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { uploadMediaContract } from "@/lib/content/contract.ts";
import { uploadMedia } from "@/lib/content/upload-media.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(uploadMediaContract, ({ app, caller, request }) =>
    answer(uploadMedia(app, caller.accountId, request), created),
  ),
});
