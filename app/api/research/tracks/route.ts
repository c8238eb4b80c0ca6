import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { listTracksContract } from "@/lib/research/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(listTracksContract, ({ app: { research }, query: { id, artist = "" } }) =>
    answer(research.listTracks(id === undefined ? { name: artist } : { id }), (tracks) =>
      success({ ...(research.source && { source: research.source }), tracks }),
    ),
  ),
});
