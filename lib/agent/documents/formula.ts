/** Parses the formulas of a workbook, and computes those with arithmetic and common functions. */
import { utils } from "@e965/xlsx";
import { DocumentError } from "./document.ts";

/** A cell as formulas see it; null for an empty one. */
export type GridCell = number | string | Formula | null;
export interface Grid {
  readonly name: string;
  readonly rows: readonly (readonly GridCell[])[];
}
interface Formula {
  readonly root: Node;
  /** Null without a value; undefined before it is computed. */
  value: number | null | undefined;
}
type Area = { readonly sheet: string | undefined } & ReturnType<typeof utils.decode_range>;
type Node = number | Area | { readonly name: string; readonly args: readonly Node[] };

const MAX_FORMULA_CHARS = 8_192;
const MAX_NESTING = 64;
/** Of operations that wait for others, also in other cells. */
const MAX_DEPTH = 1_500;
/** By all formulas of a workbook. */
const MAX_READ_CELLS = 20_000_000;
const LAST_ROW = 1_048_575;

/** Functions that reach out of the workbook. */
const REFUSED =
  /^(?:WEBSERVICE|HYPERLINK|IMAGE|RTD|DDE|CALL|REGISTER|EXEC|PY|INFO|STOCKHISTORY|SQL|CUBE|IMPORT|GOOGLE)/;
const TOKEN =
  /\s*(?:(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:E[+-]?\d+)?)(?![\w.])|(?<text>"(?:[^"]|"")*"|(?:TRUE|FALSE)(?![\w(.!]))|(?:(?<sheet>'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?(?<area>\$?[A-Z]{1,3}\$?[1-9]\d{0,6}(?::\$?[A-Z]{1,3}\$?[1-9]\d{0,6})?|\$?[A-Z]{1,3}:\$?[A-Z]{1,3})(?![\w(.!:])|(?<call>[A-Z][A-Z\d.]*)\(|(?<symbol><=|>=|<>|[-+*/^&=<>%(),]))\s*/iuy;
/** From the loosest to the tightest. */
const OPERATORS = [["=", "<>", "<", "<=", ">", ">="], ["&"], ["+", "-"], ["*", "/"], ["^"]];

/**
 * Returns a formula from its text after the equals sign; null for a text that is none or reaches out of the workbook.
 * @param sheets the names of the workbook's sheets, in lower case
 */
export function parseFormula(text: string, sheets: ReadonlySet<string>): Formula | null {
  const tokens: Partial<Record<string, string>>[] = [];
  let at = 0;
  const accept = (...symbols: readonly string[]): string | undefined => {
    const symbol = tokens[at]?.symbol;
    if (symbol === undefined || !symbols.includes(symbol)) return undefined;
    at++;
    return symbol;
  };
  const close = (): void => {
    if (!accept(")")) throw new SyntaxError();
  };
  const parse = (level: number, nesting: number): Node => {
    const operators = OPERATORS[level];
    if (!operators) return parsePart(nesting);
    let left = parse(level + 1, nesting);
    for (let name = accept(...operators); name; name = accept(...operators)) {
      left = { name, args: [left, parse(level + 1, nesting)] };
    }
    return left;
  };
  const parsePart = (nesting: number): Node => {
    const { number, text, sheet, area, call, symbol } = tokens[at++] ?? {};
    if (nesting > MAX_NESTING) throw new SyntaxError();
    if (symbol === "-" || symbol === "+")
      return { name: symbol, args: [0, parsePart(nesting + 1)] };
    let part: Node = { name: "", args: [] };
    if (number) part = Number(number);
    else if (area) part = areaOf(area, sheet, sheets);
    else if (symbol === "(") {
      part = parse(0, nesting + 1);
      close();
    } else if (call && !REFUSED.test(call.toUpperCase())) {
      const args: Node[] = [];
      if (tokens[at]?.symbol !== ")") {
        do {
          const isLeftOut = [",", ")"].includes(tokens[at]?.symbol ?? "");
          args.push(isLeftOut ? 0 : parse(0, nesting + 1));
        } while (accept(","));
      }
      close();
      part = { name: call.toUpperCase(), args };
    } else if (!text) throw new SyntaxError();
    while (accept("%")) part = { name: "/", args: [part, 100] };
    return part;
  };
  try {
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
      const token = text.length > MAX_FORMULA_CHARS ? null : TOKEN.exec(text);
      if (!token) return null;
      tokens.push(token.groups ?? {});
    }
    const root = parse(0, 0);
    return at === tokens.length ? { root, value: undefined } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function areaOf(text: string, given: string | undefined, sheets: ReadonlySet<string>): Area {
  const sheet = given?.replace(/^'|'$/g, "").replaceAll("''", "'").toLowerCase();
  if (sheet !== undefined && !sheets.has(sheet)) throw new SyntaxError();
  const [from = "", to = from] = text.replaceAll("$", "").toUpperCase().split(":");
  const { s, e } = /\d/.test(from)
    ? utils.decode_range(`${from}:${to}`)
    : { s: { r: 0, c: utils.decode_col(from) }, e: { r: LAST_ROW, c: utils.decode_col(to) } };
  if (s.r > e.r || s.c > e.c) throw new SyntaxError();
  return { sheet, s, e };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const AGGREGATES: Readonly<Record<string, (numbers: readonly number[]) => number>> = {
  SUM: sum,
  AVERAGE: (numbers) => sum(numbers) / numbers.length,
  MIN: (numbers) => numbers.reduce((least, number) => Math.min(least, number), numbers[0] ?? 0),
  MAX: (numbers) => numbers.reduce((most, number) => Math.max(most, number), numbers[0] ?? 0),
  COUNT: (numbers) => numbers.length,
};
const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  /** Half away from zero, by the decimal digits that a program shows. */
  ROUND: (value, digits) => {
    const shift = Math.trunc(digits);
    const shifted = Number(`${Number(Math.abs(value).toPrecision(15))}e${shift}`);
    return Math.sign(value) * Number(`${Math.round(shifted)}e${-shift}`);
  },
};

/**
 * Computes the formulas of a workbook as far as they have only functions that are known here and no cycles.
 * @throws DocumentError for a formula that adds up a text of digits, which programs leave out without a word
 */
export function computeFormulas(grids: readonly Grid[]): void {
  const bySheet = new Map(grids.map((grid) => [grid.name.toLowerCase(), grid]));
  let read = 0;
  const cellValue = (cell: GridCell, grid: Grid, depth: number): number | null => {
    if (cell === null || typeof cell !== "object")
      return typeof cell === "string" ? null : (cell ?? 0);
    if (cell.value === undefined) {
      // A cell of a cycle meets itself without a value.
      cell.value = null;
      const value = evaluate(cell.root, grid, depth + 1);
      if (value !== null && Number.isFinite(value)) cell.value = Number(value.toPrecision(15)) + 0;
    }
    return cell.value;
  };
  const evaluate = (node: Node, grid: Grid, depth: number): number | null => {
    if (depth > MAX_DEPTH) return null;
    if (typeof node === "number") return node;
    if ("s" in node) {
      const { s, e } = node;
      const source = bySheet.get(node.sheet ?? "") ?? grid;
      if (s.r !== e.r || s.c !== e.c || read++ > MAX_READ_CELLS) return null;
      return cellValue(source.rows[s.r]?.[s.c] ?? null, source, depth);
    }
    const operation = OPERATIONS[node.name];
    if (operation && node.args.length === 2) {
      const [a, b] = node.args.map((arg) => evaluate(arg, grid, depth + 1));
      return typeof a === "number" && typeof b === "number" ? operation(a, b) : null;
    }
    const aggregate = AGGREGATES[node.name];
    const numbers = aggregate && numbersIn(node.args, grid, depth);
    return numbers ? aggregate(numbers) : null;
  };
  const numbersIn = (args: readonly Node[], grid: Grid, depth: number): number[] | null => {
    const numbers: number[] = [];
    for (const arg of args) {
      if (typeof arg === "number" || !("s" in arg)) {
        const value = evaluate(arg, grid, depth + 1);
        if (value === null) return null;
        numbers.push(value);
        continue;
      }
      const source = bySheet.get(arg.sheet ?? "") ?? grid;
      for (let r = arg.s.r; r <= Math.min(arg.e.r, source.rows.length - 1); r++) {
        const row = source.rows[r] ?? [];
        for (let c = arg.s.c; c <= Math.min(arg.e.c, row.length - 1); c++) {
          if (read++ > MAX_READ_CELLS) return null;
          const cell = row[c] ?? null;
          if (cell === null) continue;
          if (typeof cell === "string") refuseDigits(cell, source, r, c);
          else {
            const value = cellValue(cell, source, depth);
            if (value === null) return null;
            numbers.push(value);
          }
        }
      }
    }
    return numbers;
  };
  for (const grid of grids) {
    for (const row of grid.rows) for (const cell of row) cellValue(cell, grid, 0);
  }
}

function refuseDigits(text: string, { name }: Grid, r: number, c: number): void {
  if (r === 0 || text.length > 100 || !/^\P{L}*\d\P{L}*$/u.test(text)) return;
  throw new DocumentError(
    `has a formula over ${name}!${utils.encode_cell({ r, c })}, which is text: a column has numbers if all its cells are numbers of one form, so leave the others empty`,
  );
}
