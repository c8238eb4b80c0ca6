/** The lines of the table (table.ts), and derived lines of the other endpoints. */
import type { Contract } from "@platform/endpoint/contract/contract";
import { contracts } from "../../lib/openapi/registry.ts";
import { nameOf } from "../support/fixtures/shapes.ts";
import { rows } from "./rows.ts";
import { type Caller, callers, sentences, table } from "./table.ts";

export interface Cell {
  readonly caller: Caller;
  readonly status: number;
  /** Whether the thing's id is in the answer; null where it may be. */
  readonly showsThing: boolean | null;
  readonly sentence: string | null;
}
export interface Line {
  readonly name: string;
  readonly field: string | null;
  readonly whose: string | null;
  readonly cells: readonly Cell[];
}
const written = readTable();
export const lines = [
  ...written,
  ...contracts.filter((one) => !written.some(({ name }) => name === nameOf(one))).map(lineOf),
];

/**
 * Returns the line of an endpoint that is not in the table: things belong to their account alone, and runs may do what
 * the contract allows. An endpoint that answers anyone otherwise needs a line.
 */
function lineOf(contract: Contract): Line {
  const name = nameOf(contract);
  if (contract.auth !== "required") throw new Error(`${name} needs a line in the table`);
  const success = Number(Object.keys(contract.responses).find((status) => Number(status) < 300));
  const cell = (caller: Caller, status: number, sentence: string | null = null): Cell => ({
    caller,
    status,
    showsThing: status < 300 ? null : false,
    sentence,
  });
  const cellOf = (caller: Caller): Cell => {
    switch (caller) {
      case "no credential":
      case "both credentials":
      case "in a sandbox":
        return cell(caller, 401, sentences.x);
      case "expired key":
      case "revoked key":
        return cell(caller, 401, sentences.u);
      case "member":
      case "admin":
      case "stranger":
        if (!contract.path.includes("{")) return { ...cell(caller, success), showsThing: false };
        return cell(caller, 404, rows[name]?.missing ?? "missing: of the row");
      case "run key":
      case "run bearer":
        if (contract.runCredential === undefined) return cell(caller, 403, sentences.k);
        return cell(caller, success);
      default:
        return cell(caller, success);
    }
  };
  return { name, field: null, whose: null, cells: callers.map(cellOf) };
}

function readTable(): Line[] {
  const written = table.split("\n").filter((line) => line.includes("|"));
  let name = "";
  return written.map((line) => {
    const [left = "", right = ""] = line.split("|");
    const variant = /^ {2}(\w+)=(\w+) *$/.exec(left);
    if (!variant) name = left.trim();
    const cells = right.trim().split(/ +/);
    if (cells.length !== callers.length)
      throw new Error(`${callers.length} cells are due: ${line}`);
    return {
      name,
      field: variant?.[1] ?? null,
      whose: variant?.[2] ?? null,
      cells: callers.map((caller, index) => readCell(caller, cells[index] ?? "")),
    };
  });
}

function readCell(caller: Caller, text: string): Cell {
  const [, status, mark = ""] = /^(\d{3})([+a-zA-Z]?)$/.exec(text) ?? [];
  const sentence = sentences[mark] ?? null;
  const isError = Number(status) >= 400;
  if (!status || isError !== (sentence !== null)) throw new Error(`No cell of the table: ${text}`);
  return { caller, status: Number(status), showsThing: mark === "+", sentence };
}
