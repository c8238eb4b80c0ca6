import { answer, done } from "@platform/endpoint/answers";
import { deleteDeliveryAddressContract } from "@/lib/delivery/contract.ts";
import { removeAddress } from "@/lib/delivery/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(deleteDeliveryAddressContract, ({ caller, params }) =>
    answer(removeAddress(caller.accountId, params.id), done),
  ),
});
