/** Computes the formulas of a workbook that have only arithmetic and common functions. */
import { utils } from "@e965/xlsx";
import { DocumentError } from "./document.ts";

/** A cell as formulas see it; null for an empty one. */
export type GridCell = number | string | Formula | null;
export interface Grid {
  readonly name: string;
  readonly rows: readonly (readonly GridCell[])[];
}
type Token = Partial<Record<string, string>>;
interface Formula {
  readonly tokens: readonly Token[];
  /** Null without a value; undefined before it is computed. */
  value: number | null | undefined;
}
type Area = { readonly sheet: string | undefined } & ReturnType<typeof utils.decode_range>;
type Value = number | Area | null;
/** Returns the numbers of an area, or the one of a cell; null for cells without a value. */
type Read = (area: Area, isCell: boolean, nesting: number) => readonly number[] | null;

const MAX_FORMULA_CHARS = 8_192;
const MAX_NESTING = 64;
/** The depth of cells that need other cells, with the nesting in each. */
const MAX_DEPTH = 300;
/** The maximum for all formulas of a workbook. */
const MAX_READ_CELLS = 20_000_000;
const LAST_ROW = 1_048_575;

/** Functions that reach out of the workbook. */
const REFUSED =
  /^(?:WEBSERVICE|HYPERLINK|IMAGE|RTD|DDE|CALL|REGISTER|EXEC|PY|INFO|STOCKHISTORY|SQL|CUBE|IMPORT|GOOGLE)/;
const TOKEN =
  /\s*(?:(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:E[+-]?\d+)?)(?![\w.])|(?<text>"(?:[^"]|"")*"|(?:TRUE|FALSE)(?![\w(.!]))|(?:(?<sheet>'(?:[^']|'')+'|[\p{L}_][\p{L}\p{N}_.]*)!)?(?<area>\$?[A-Z]{1,3}\$?[1-9]\d{0,6}(?::\$?[A-Z]{1,3}\$?[1-9]\d{0,6})?|\$?[A-Z]{1,3}:\$?[A-Z]{1,3})(?![\w(.!:])|(?<name>[A-Z][A-Z\d.]*)\(|(?<symbol><=|>=|<>|[-+*/^&=<>%(),]))\s*/iuy;
/** Ordered from the loosest to the tightest. */
const OPERATORS = [["=", "<>", "<", "<=", ">", ">="], ["&"], ["+", "-"], ["*", "/"], ["^"]];

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
 * Returns a formula from its text after the equals sign; null for a text that is none or reaches out of the workbook.
 * @param sheets the names of the workbook's sheets, in lower case
 */
export function parseFormula(text: string, sheets: ReadonlySet<string>): Formula | null {
  const tokens: Token[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const token = text.length > MAX_FORMULA_CHARS ? null : TOKEN.exec(text);
    if (!token) return null;
    tokens.push(token.groups ?? {});
  }
  try {
    evaluate(tokens, () => null, sheets);
    return { tokens, value: undefined };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** @throws SyntaxError */
function evaluate(tokens: readonly Token[], read: Read, sheets?: ReadonlySet<string>) {
  let at = 0;
  let nesting = 0;
  const accept = (...symbols: readonly string[]): string | undefined =>
    symbols.includes(tokens[at]?.symbol ?? "none") ? tokens[at++]?.symbol : undefined;
  const numberOf = (value: Value | undefined): number | null => {
    if (value === null || typeof value !== "object") return value ?? null;
    const isCell = value.s.r === value.e.r && value.s.c === value.e.c;
    return isCell ? (read(value, true, nesting)?.[0] ?? null) : null;
  };
  const operate = (name: string, a: number | null, b: number | null): number | null =>
    a === null || b === null ? null : (OPERATIONS[name]?.(a, b) ?? null);
  const parse = (level = 0): Value => {
    const operators = OPERATORS[level];
    if (!operators) return parsePart();
    let left = parse(level + 1);
    for (let name = accept(...operators); name; name = accept(...operators)) {
      left = operate(name, numberOf(left), numberOf(parse(level + 1)));
    }
    return left;
  };
  const call = (name: string, args: readonly Value[]): number | null => {
    if (REFUSED.test(name)) throw new SyntaxError();
    if (name === "ROUND" && args.length === 2)
      return operate(name, numberOf(args[0]), numberOf(args[1]));
    const aggregate = AGGREGATES[name];
    const numbers: number[] = [];
    for (const arg of aggregate ? args : []) {
      const added = typeof arg === "number" ? [arg] : arg && read(arg, false, nesting);
      if (!added) return null;
      for (const number of added) numbers.push(number);
    }
    return aggregate?.(numbers) ?? null;
  };
  const parsePart = (): Value => {
    const { number, text, sheet, area, name, symbol } = tokens[at++] ?? {};
    if (++nesting > MAX_NESTING) throw new SyntaxError();
    let value: Value = null;
    if (symbol === "-" || symbol === "+") value = operate(symbol, 0, numberOf(parsePart()));
    else if (number) value = Number(number);
    else if (area) value = areaOf(area, sheet, sheets);
    else if (name || symbol === "(") {
      const args: Value[] = [];
      const isEnd = () => [",", ")"].includes(tokens[at]?.symbol ?? "");
      if (tokens[at]?.symbol !== ")")
        do args.push(isEnd() ? 0 : parse());
        while (accept(","));
      if (!accept(")") || (!name && args.length !== 1)) throw new SyntaxError();
      value = name ? call(name.toUpperCase(), args) : (args[0] ?? null);
    } else if (!text) throw new SyntaxError();
    while (accept("%")) value = operate("/", numberOf(value), 100);
    nesting--;
    return value;
  };
  const value = numberOf(parse());
  if (at !== tokens.length) throw new SyntaxError();
  return value;
}

function areaOf(text: string, given: string | undefined, sheets?: ReadonlySet<string>): Area {
  const sheet = given?.replace(/^'|'$/g, "").replaceAll("''", "'").toLowerCase();
  const [from = "", to = from] = text.replaceAll("$", "").toUpperCase().split(":");
  const { s, e } = /\d/.test(from)
    ? utils.decode_range(`${from}:${to}`)
    : { s: { r: 0, c: utils.decode_col(from) }, e: { r: LAST_ROW, c: utils.decode_col(to) } };
  const isKnown = sheet === undefined || !sheets || sheets.has(sheet);
  if (!isKnown || s.r > e.r || s.c > e.c) throw new SyntaxError();
  return { sheet, s, e };
}

/**
 * Computes the formulas of a workbook that use only supported functions and have no cycles.
 * @throws DocumentError for a formula that adds up a text of digits, which programs leave out without a word
 */
export function computeFormulas(grids: readonly Grid[]): void {
  const bySheet = new Map(grids.map((grid) => [grid.name.toLowerCase(), grid]));
  let readCells = 0;
  const compute = (formula: Formula, grid: Grid, depth: number): number | null => {
    if (formula.value !== undefined || depth > MAX_DEPTH) return formula.value ?? null;
    // A cell of a cycle meets itself without a value.
    formula.value = null;
    const value = evaluate(formula.tokens, ({ sheet, s, e }, isCell, nesting) => {
      const source = bySheet.get(sheet ?? "") ?? grid;
      const numbers: number[] = [];
      for (let r = s.r; r <= Math.min(e.r, source.rows.length - 1); r++) {
        const row = source.rows[r] ?? [];
        for (let c = s.c; c <= Math.min(e.c, row.length - 1); c++) {
          const cell = row[c] ?? null;
          if (++readCells > MAX_READ_CELLS || (isCell && typeof cell === "string")) return null;
          if (typeof cell === "string") refuseDigits(cell, source, r, c);
          if (cell === null || typeof cell === "string") continue;
          const number =
            typeof cell === "number" ? cell : compute(cell, source, depth + nesting + 1);
          if (number === null) return null;
          numbers.push(number);
        }
      }
      return isCell && numbers.length === 0 ? [0] : numbers;
    });
    if (value !== null && Number.isFinite(value)) formula.value = Number(value.toPrecision(15)) + 0;
    return formula.value;
  };
  for (const grid of grids) {
    for (const cell of grid.rows.flat())
      if (cell !== null && typeof cell === "object") compute(cell, grid, 0);
  }
}

function refuseDigits(text: string, { name }: Grid, r: number, c: number): void {
  if (r === 0 || text.length > 100 || !/^\P{L}*\d\P{L}*$/u.test(text)) return;
  throw new DocumentError(
    `has a formula over ${name}!${utils.encode_cell({ r, c })}, which is text: a column has numbers if all its cells are numbers of one form, so leave the others empty`,
  );
}
