import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { chooseConnectorsContract, listChatConnectorsContract } from "@/lib/connectors/contract.ts";
import { selectChatConnectors, setChatConnectors } from "@/lib/connectors/store.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

const show = ({ connectors }: { readonly connectors: string[] }) => ({
  body: { status: "success", connectors } as const,
});

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listChatConnectorsContract, ({ app, caller: { accountId }, params }) =>
    answer(selectChatConnectors(app.db, { accountId, ...params }), show),
  ),
  PUT: endpoint(chooseConnectorsContract, ({ app, caller: { accountId }, params, body }) =>
    answer(setChatConnectors(app.db, { accountId, ...params }, body.connectors), show),
  ),
});
