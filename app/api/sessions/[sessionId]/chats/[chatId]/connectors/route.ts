import { chooseConnectorsContract, listChatConnectorsContract } from "@/lib/connectors/contract.ts";
import { selectChatConnectors, setChatConnectors } from "@/lib/connectors/store.ts";
import { answer } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

const show = ({ connectors }: { readonly connectors: string[] }) => ({
  body: { status: "success", connectors } as const,
});

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listChatConnectorsContract, ({ caller, params }) =>
    answer(selectChatConnectors(caller.accountId, params), show),
  ),
  PUT: endpoint(chooseConnectorsContract, ({ caller, params, body }) =>
    answer(setChatConnectors(caller.accountId, params, body.connectors), show),
  ),
});
