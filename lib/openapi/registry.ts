/**
 * Every contract of the service. OpenAPI is made from it, and a test holds it against the route
 * files: a contract without a route fails, and a route without a contract.
 */
import * as models from "../agent/models/contract.ts";
import * as catalog from "../catalog/contract.ts";
import * as connectors from "../connectors/contract.ts";
import * as content from "../content/contract.ts";
import type { Contract } from "../contract/contract.ts";
import * as health from "../health/contract.ts";
import * as keys from "../identity/keys/contract.ts";
import * as signup from "../identity/sign-up/contract.ts";
import * as research from "../research/contract.ts";
import * as sandboxes from "../sandbox/contract.ts";
import * as sessions from "../sessions/contract.ts";
import * as tasks from "../tasks/contract.ts";
import * as templates from "../templates/contract.ts";
import * as chat from "../turns/contract.ts";

const domains: readonly Readonly<Record<string, unknown>>[] = [
  chat,
  keys,
  signup,
  sessions,
  sandboxes,
  templates,
  tasks,
  content,
  models,
  connectors,
  catalog,
  research,
  health,
];

/** What a domain's `contract.ts` exports beside contracts (schemas, types) is left out. */
function isContract(value: unknown): value is Contract {
  return (
    typeof value === "object" &&
    value !== null &&
    "method" in value &&
    "path" in value &&
    "family" in value
  );
}

export interface Operation {
  /** `createKey` of `createKeyContract`: its name for people and for generated clients. */
  readonly id: string;
  readonly contract: Contract;
}

export const operations: readonly Operation[] = domains.flatMap((domain) =>
  Object.entries(domain).flatMap(([name, value]) =>
    isContract(value) ? [{ id: name.replace(/Contract$/, ""), contract: value }] : [],
  ),
);

export const contracts: readonly Contract[] = operations.map(({ contract }) => contract);
