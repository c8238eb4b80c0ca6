import { answer, success } from "@platform/endpoint/answers";
import { methods } from "@platform/endpoint/methods";
import { readBytes } from "@platform/endpoint/read-input";
import { after } from "next/server";
import { endpoint } from "@/lib/http/endpoint.ts";
import { MAX_EVENT_BYTES, receiveComposioEventContract } from "@/lib/triggers/contract.ts";
import { receiveComposioEvent } from "@/lib/triggers/receive-event.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(receiveComposioEventContract, ({ app, request, log }) => {
    const readBody = () => readBytes(request, MAX_EVENT_BYTES);
    return answer(receiveComposioEvent(app, { request, readBody, keepAlive: after }, log), success);
  }),
});
