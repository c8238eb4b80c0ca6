import { answer, created } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { loadExampleContract } from "@/lib/artists/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { loadExample } from "@/lib/workspace/load-example.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(loadExampleContract, ({ app, caller }) =>
    answer(loadExample(app, caller.accountId), (artist) => created({ artist })),
  ),
});
