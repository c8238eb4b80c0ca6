import { answer, done } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { deleteTriggerContract } from "@/lib/triggers/contract.ts";
import { removeTrigger } from "@/lib/triggers/store.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(deleteTriggerContract, ({ caller, params }) =>
    answer(removeTrigger(caller.accountId, params), done),
  ),
});
