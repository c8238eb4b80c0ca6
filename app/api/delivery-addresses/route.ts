import { answer, created, listOf } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { addAddress } from "@/lib/delivery/addresses.ts";
import * as contracts from "@/lib/delivery/contract.ts";
import { selectAddresses } from "@/lib/delivery/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(contracts.createDeliveryAddressContract, ({ app, caller, body, log }) =>
    answer(addAddress(app, caller.accountId, body.address, log), (address) => created({ address })),
  ),
  GET: endpoint(contracts.listDeliveryAddressesContract, async ({ app, caller, query }) => {
    const page = await selectAddresses(app.db, caller.accountId, query);
    return listOf("/api/delivery-addresses", query, "addresses", page);
  }),
});
