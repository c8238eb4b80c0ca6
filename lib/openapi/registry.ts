/** Every contract of the service: the source of the OpenAPI document. A test compares it with the route files. */

import type { Contract } from "@platform/endpoint/contract/contract";
import { createJudge } from "@platform/endpoint/judge-request";
import { type Operation, operationsIn } from "@platform/endpoint/openapi/operation";
import * as domains from "./generated/contracts.ts";

const modules: readonly object[] = Object.values(domains);

export const operations: readonly Operation[] = operationsIn(modules);

export const contracts: readonly Contract[] = operations.map(({ contract }) => contract);

/** The descriptions of the tags, which the contracts' modules export as `apiTags`. */
export const tagsOf: Readonly<Record<string, string>> = Object.assign(
  {},
  ...modules.map((module) => ("apiTags" in module ? module.apiTags : {})),
);

/** Returns a request to this service as its router and its endpoint understand it. */
export const judgeRequest = createJudge(contracts);
