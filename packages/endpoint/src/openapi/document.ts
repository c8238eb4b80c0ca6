/** The OpenAPI 3.1 document, made from contracts and their recorded examples alone. */

import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import type { Contract } from "../contract/contract.ts";
import { describedInput } from "../contract/normalize-input.ts";
import {
  bodiesOf,
  json,
  type RecordedExchange,
  type RecordedExchanges,
  withParameterExamples,
} from "./examples.ts";
import type { Operation } from "./operation.ts";
import { errorResponses, headersOfRequest, successResponses } from "./responses.ts";

/**
 * Returns the document.
 * @param about the title, the servers, the tags, and the security schemes `apiKey` and `bearer`
 * @param examples by operation id
 */
export function describeApi(
  about: Omit<ZodOpenApiObject, "openapi" | "paths">,
  operations: readonly Operation[],
  examples: Readonly<Record<string, RecordedExchanges>>,
) {
  const paths: ZodOpenApiPathsObject = {};
  for (const { id, contract } of operations) {
    paths[contract.path] = {
      ...paths[contract.path],
      [contract.method.toLowerCase()]: describeOperation(id, contract, examples[id] ?? {}),
    };
  }
  return createDocument({ openapi: "3.1.0", ...about, paths });
}

function describeOperation(
  id: string,
  contract: Contract,
  exchanges: RecordedExchanges,
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

const isSuccess = ({ response }: RecordedExchange): boolean => response.status < 400;

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
