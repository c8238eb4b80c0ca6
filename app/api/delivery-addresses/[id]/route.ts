import { answer, done } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { deleteDeliveryAddressContract } from "@/lib/delivery/contract.ts";
import { removeAddress } from "@/lib/delivery/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  DELETE: endpoint(deleteDeliveryAddressContract, ({ app, caller, params }) =>
    answer(removeAddress(app.db, caller.accountId, params.id), done),
  ),
});
