import { answer } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { readBytes } from "@platform/endpoint/read-input";
import { after } from "next/server";
import { addressOf } from "@/lib/http/address.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { MAX_EVENT_BYTES, receiveEventContract } from "@/lib/triggers/contract.ts";
import { describeReceived, receiveEvent } from "@/lib/triggers/receive-event.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(receiveEventContract, ({ app, params, query: { secret }, request }) => {
    const address = addressOf(request.headers);
    const readBody = () => readBytes(request, MAX_EVENT_BYTES);
    const sent = { triggerId: params.trigger_id, secret, request, address, readBody };
    return answer(receiveEvent(app, { ...sent, keepAlive: after }), describeReceived);
  }),
});
