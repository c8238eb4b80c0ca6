import { after } from "next/server";
import { answer, success } from "@/lib/http/answers.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { readBytes } from "@/lib/http/read-input.ts";
import { MAX_EVENT_BYTES, receiveComposioEventContract } from "@/lib/triggers/contract.ts";
import { receiveComposioEvent } from "@/lib/triggers/receive-event.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(receiveComposioEventContract, ({ app, request, log }) => {
    const readBody = () => readBytes(request, MAX_EVENT_BYTES);
    return answer(receiveComposioEvent(app, { request, readBody, keepAlive: after }, log), success);
  }),
});
