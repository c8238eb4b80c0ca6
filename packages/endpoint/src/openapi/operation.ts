import type { Contract } from "../contract/contract.ts";

export interface Operation {
  /** The operation id, such as `createKey` for `createKeyContract`. */
  readonly id: string;
  readonly contract: Contract;
}

/** Returns the operations of modules with contracts, whose other exports, such as schemas, are left out. */
export const operationsIn = (modules: readonly object[]): Operation[] =>
  modules.flatMap((module) =>
    Object.entries(module).flatMap(([name, value]) =>
      isContract(value) ? [{ id: name.replace(/Contract$/, ""), contract: value }] : [],
    ),
  );

function isContract(value: unknown): value is Contract {
  return (
    typeof value === "object" &&
    value !== null &&
    "method" in value &&
    "path" in value &&
    "family" in value
  );
}
