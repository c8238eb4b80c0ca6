import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { deleteTriggerContract } from "@/lib/triggers/contract.ts";
import { deleteTrigger } from "@/lib/triggers/create-trigger.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(deleteTriggerContract, ({ app, caller, params, log }) =>
    answer(deleteTrigger(app, caller.accountId, params, log), done),
  ),
});
