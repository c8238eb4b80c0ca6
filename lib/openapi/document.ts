/** The OpenAPI 3.1 document, made from the contracts and their recorded examples alone. */

import type { Contract } from "@platform/endpoint/contract/contract";
import { describedInput } from "@platform/endpoint/contract/normalize-input";
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import {
  bodiesOf,
  type Exchange,
  type Exchanges,
  json,
  withParameterExamples,
} from "./examples.ts";
import type { Operation } from "./registry.ts";
import { errorResponses, headersOfRequest, successResponses } from "./responses.ts";

/** The description of each tag, in the order of the reference. */
export const tags: Readonly<Record<string, string>> = {
  Chat: "Turns of an agent, streamed, resumed and stopped; headless runs.",
  Sessions: "A session owns chats and a sandbox.",
  Sandbox: "Where the agent's tools act.",
  Workspace: "Versioned files that the sessions of an account or of an artist share.",
  Models: "The models that a chat or a run may name.",
  "Sign-up": "How an agent gets its first API key.",
  Keys: "API keys of an account.",
  Account: "The account of the credential.",
  Organizations: "Organizations, their members, and invitations to join them.",
  Artists: "The artists that an account works for.",
  "Agent templates": "Prompts to start from: own, public or shared by e-mail.",
  Skills:
    "Instructions with scripts that agents load: of the account, of its organizations, and built in.",
  "MCP servers": "Services of others whose tools the agents of an account can call.",
  Content: "Images and videos, and the templates that shape them.",
  Tasks: "Scheduled prompts, and background runs.",
  Approvals: "Calls that agents ask for before they make them.",
  Deliveries: "Results of runs by mail, and the addresses that take them.",
  Webhooks: "Endpoints of an account that are told of events, and the log of deliveries.",
  Usage: "What models and generations use and cost.",
  Connectors: "Third-party services that an account is linked to.",
  Catalog: "Artists, albums and tracks.",
  Research: "All tracks of an artist.",
  MCP: "The API as a server of the Model Context Protocol.",
  Service: "Health, and this document.",
};

/** Returns the document. @param examples by operation id */
export function describeApi(
  operations: readonly Operation[],
  examples: Readonly<Record<string, Exchanges>>,
  serverUrl: string | undefined,
) {
  const paths: ZodOpenApiPathsObject = {};
  for (const { id, contract } of operations) {
    paths[contract.path] = {
      ...paths[contract.path],
      [contract.method.toLowerCase()]: describeOperation(id, contract, examples[id] ?? {}),
    };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Agent Platform API",
      version: "1.0.0",
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Send exactly one credential: an API key in `x-api-key` or in `Authorization: Bearer`, or a bearer token. " +
        "The agent's sandbox has a credential of its own for each run, in `AGENT_API_AUTH_HEADER`: " +
        "it acts for the caller's account, ends with the run, and may only call what says so. " +
        "Every response carries `x-request-id`, every error `x-error-code`. " +
        "An optional field may be `null` as if it were absent; a body is read as JSON whatever its content type. " +
        "Fields of bodies and query parameters are also accepted in the other of camelCase and snake_case. " +
        "Unknown fields are refused in bodies whose schema has no additional properties, which start or configure an agent. " +
        "Elsewhere, and in queries, they are ignored and named in the response header `x-ignored-fields`: " +
        "at most 20 names, separated by commas and percent-encoded. " +
        "With the header `Prefer: handling=strict` (RFC 7240) they are refused everywhere.",
    },
    servers: [{ url: serverUrl ?? "/" }],
    tags: Object.entries(tags)
      .map(([name, description]) => ({ name, description }))
      .filter(({ name }) => operations.some(({ contract }) => contract.tag === name)),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "A key of `POST /api/keys` or `POST /api/agents/verify`.",
        },
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "A JWT of the identity provider, whose e-mail names a personal account, or an API key.",
        },
      },
    },
  });
}

function describeOperation(
  id: string,
  contract: Contract,
  exchanges: Exchanges,
): ZodOpenApiOperationObject {
  const { params, query, body, byteBodyLimit, zipBody } = contract;
  const first = Object.values(exchanges)[0]?.request;
  return {
    operationId: id,
    summary: contract.summary,
    ...withDescription(contract),
    tags: [contract.tag],
    security: securityOf(contract),
    requestParams: {
      ...(params ? { path: withParameterExamples(params, first?.params) } : {}),
      ...(query instanceof z.ZodObject
        ? { query: withParameterExamples(query, first?.query) }
        : {}),
      header: headersOfRequest(contract),
    },
    ...(body
      ? {
          requestBody: {
            required: !body.safeParse({}).success,
            content: {
              ...json(
                describedInput(body, contract.strictBody === true),
                bodiesOf(exchanges, isSuccess, ({ request }) => request),
              ),
              ...(zipBody && { "application/zip": {} }),
            },
          },
        }
      : {}),
    // OpenAPI 3.1 describes bytes by a media type without a schema.
    ...(byteBodyLimit === undefined
      ? {}
      : { requestBody: { required: false, content: { "application/octet-stream": {} } } }),
    responses: { ...errorResponses(contract, exchanges), ...successResponses(contract, exchanges) },
  };
}

const isSuccess = ({ response }: Exchange): boolean => response.status < 400;

/** Returns the contract's description, and whether the credential of a run may call it. */
function withDescription({ auth, description, runCredential: rule }: Contract) {
  const forRuns =
    auth === "none" || rule === undefined
      ? undefined
      : rule === true
        ? "The credential of a run may call it."
        : `The credential of a run may call it ${rule.only}.`;
  const sentences = [description, forRuns].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? {} : { description: sentences.join(" ") };
}

function securityOf({ auth }: Contract): Record<string, string[]>[] {
  if (auth === "none") return [];
  const either: Record<string, string[]>[] = [{ apiKey: [] }, { bearer: [] }];
  return auth === "optional" ? [{}, ...either] : either;
}
