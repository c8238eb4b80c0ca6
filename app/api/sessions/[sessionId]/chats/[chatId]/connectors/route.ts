import { chooseConnectorsContract } from "@/lib/connectors/contract.ts";
import { setChatConnectors } from "@/lib/connectors/store.ts";
import { answer } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  PUT: endpoint(chooseConnectorsContract, ({ caller, params, body }) =>
    answer(setChatConnectors(caller.accountId, params, body.connectors), ({ connectors }) => ({
      body: { status: "success", connectors },
    })),
  ),
});
