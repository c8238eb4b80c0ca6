/** The log of an account's requests. */

import { contract } from "@platform/endpoint/contract/contract";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";

const credential = z.enum(["api_key", "bearer", "run"]);
const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx"] as const;

export const loggedRequest = z
  .object({
    id: uuid,
    created_at: dateTime,
    method: z.string(),
    route: z.string().meta({
      description: "The path of the endpoint, with the names of its parameters instead of values",
      examples: ["/api/chat/runs/{runId}"],
    }),
    status: z.int(),
    duration_ms: z.number().nonnegative().meta({
      description: "Until the response was ready; the chunks of a stream come after that",
    }),
    credential: credential.meta({
      description: "`bearer` is also the console, `run` the sandbox of a run",
    }),
    api_key_id: uuid.nullable().meta({ description: "Null without an API key" }),
    request_id: z.string().meta({ description: "The `x-request-id` of the response" }),
  })
  .meta({ id: "LoggedRequest" });
export type LoggedRequest = z.output<typeof loggedRequest>;

export const listRequestsContract = contract({
  method: "GET",
  path: "/api/requests",
  summary: "List the caller's requests, newest first",
  description:
    "What the account's credentials have asked of the API, whichever account they acted for. Without bodies, query strings and addresses, and without requests that no credential was accepted for. A request is listed about a second after its response. A server that crashes may lose those of its last second. Kept for `REQUEST_LOG_RETENTION_DAYS`.",
  tag: "Usage",
  family: "error",
  auth: "required",
  query: pageQuery.extend({
    status: z.enum(STATUS_CLASSES).optional().meta({ description: "Requests of these statuses" }),
    route: z
      .string()
      .max(200)
      .optional()
      .meta({ description: "Requests to this endpoint, as in `route`" }),
    credential: credential.optional().meta({ description: "Requests with such a credential" }),
    api_key_id: uuid.optional().meta({ description: "Requests with this API key" }),
  }),
  responses: pageResponse("requests", loggedRequest),
  errors: [],
});
export type RequestFilters = Omit<z.output<typeof listRequestsContract.query>, "limit" | "cursor">;
