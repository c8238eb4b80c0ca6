/** The command `bc`: statements of its arithmetic, without functions and loops of the user. */
import { type Command, decodeBytesToUtf8, defineCommand } from "just-bash";
import { failed, inputOf, optionsOf, printed } from "./options.ts";

/** A decimal: `digits` divided by ten to the power of `scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Bounds the time of an operation. */
const MAX_DIGITS = 5_000;
const MAX_SCALE = 500;
const MAX_STATEMENTS = 100_000;
const MAX_DEPTH = 200;
const LINE_CHARS = 69;

const pow10 = (exponent: number): bigint => 10n ** BigInt(exponent);
const ZERO: Decimal = { digits: 0n, scale: 0 };
const ONE: Decimal = { digits: 1n, scale: 0 };

function bounded(digits: bigint, scale: number): Decimal {
  if (digits > LIMIT || digits < -LIMIT) throw new Error("a number has too many digits");
  return { digits, scale };
}
const LIMIT = pow10(MAX_DIGITS);

const raise = ({ digits, scale }: Decimal, to: number): bigint => digits * pow10(to - scale);
const cut = ({ digits, scale }: Decimal, to: number): Decimal =>
  scale <= to ? { digits, scale } : { digits: digits / pow10(scale - to), scale: to };

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return bounded(raise(a, scale) + raise(b, scale), scale);
}
const negate = ({ digits, scale }: Decimal): Decimal => ({ digits: -digits, scale });
const compare = (a: Decimal, b: Decimal): number => Number(signOf(add(a, negate(b)).digits));
const signOf = (value: bigint): number => (value < 0n ? -1 : value > 0n ? 1 : 0);

function multiply(a: Decimal, b: Decimal, scale: number): Decimal {
  const exact = bounded(a.digits * b.digits, a.scale + b.scale);
  return cut(exact, Math.min(a.scale + b.scale, Math.max(scale, a.scale, b.scale)));
}

function divide(a: Decimal, b: Decimal, scale: number): Decimal {
  if (b.digits === 0n) throw new Error("Divide by zero");
  const shift = scale + b.scale - a.scale;
  const digits =
    shift >= 0 ? (a.digits * pow10(shift)) / b.digits : a.digits / (b.digits * pow10(-shift));
  return bounded(digits, scale);
}

function power(base: Decimal, exponent: Decimal, scale: number): Decimal {
  if (exponent.scale > 0 && exponent.digits % pow10(exponent.scale) !== 0n) {
    throw new Error("non-zero scale in exponent");
  }
  const times = Number(cut(exponent, 0).digits);
  if (Math.abs(times) * base.digits.toString().length > 2 * MAX_DIGITS)
    throw new Error("exponent too large");
  const whole = bounded(base.digits ** BigInt(Math.abs(times)), base.scale * Math.abs(times));
  if (times < 0) return divide(ONE, whole, scale);
  return cut(whole, Math.min(whole.scale, Math.max(scale, base.scale)));
}

function squareRoot({ digits, scale }: Decimal, wanted: number): Decimal {
  if (digits < 0n) throw new Error("Square root of a negative number");
  const to = Math.max(wanted, scale);
  const value = digits * pow10(2 * to - scale);
  let [low, high] = [0n, 1n << BigInt(Math.ceil(value.toString(2).length / 2) + 1)];
  while (low < high) {
    const middle = (low + high + 1n) >> 1n;
    if (middle * middle <= value) low = middle;
    else high = middle - 1n;
  }
  return bounded(low, to);
}

/** The functions of `bc -l`, which are as exact as a double. */
const MATH: Readonly<Record<string, (value: number) => number>> = {
  ...{ s: Math.sin, c: Math.cos, a: Math.atan, l: Math.log, e: Math.exp },
};

const parseNumber = (text: string): Decimal => {
  const [whole = "", fraction = ""] = text.split(".");
  return bounded(BigInt(`${whole}${fraction}` || "0"), fraction.length);
};

function formatNumber({ digits, scale }: Decimal): string {
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale, "0");
  const [whole, fraction] = [text.slice(0, text.length - scale), text.slice(text.length - scale)];
  if (digits === 0n) return "0";
  const number = `${digits < 0n ? "-" : ""}${whole === "0" ? "" : whole}${fraction ? `.${fraction}` : ""}`;
  const lines = number.length > LINE_CHARS ? number.match(/.{1,68}/g) : null;
  return lines?.join("\\\n") ?? (number || "0");
}

class Calculator {
  readonly #tokens: string[];
  readonly #variables = new Map<string, Decimal>();
  readonly #hasMath: boolean;
  #at = 0;
  #depth = 0;
  output = "";

  constructor(text: string, hasMath: boolean) {
    const plain = text.replace(/\\\n/g, "").replace(/\/\*[\s\S]*?\*\/|#[^\n]*/g, "");
    this.#tokens =
      plain.match(
        /\d+\.?\d*|\.\d+|[a-z][a-z0-9_]*|"[^"]*"|[-+*/%^]=|[<>=!]=|&&|\|\||\+\+|--|\n|[^ \t\r]/g,
      ) ?? [];
    this.#hasMath = hasMath;
    if (hasMath) this.#variables.set("scale", { digits: 20n, scale: 0 });
  }

  run(maxChars: number): void {
    for (let count = 0; this.#at < this.#tokens.length; count++) {
      if (count > MAX_STATEMENTS || this.output.length > maxChars)
        throw new Error("too many statements");
      if (this.#take("\n", ";")) continue;
      if (this.#take("quit")) return;
      const token = this.#tokens[this.#at] ?? "";
      if (token.startsWith('"')) {
        this.#at += 1;
        this.output += token.slice(1, -1);
      } else if (this.#take("print")) {
        do {
          const next = this.#tokens[this.#at] ?? "";
          if (next.startsWith('"')) {
            this.#at += 1;
            this.output += next.slice(1, -1).replaceAll("\\n", "\n").replaceAll("\\t", "\t");
          } else this.output += formatNumber(this.#or());
        } while (this.#take(","));
      } else {
        const isAssignment =
          /^[a-z]/.test(token) && /^([-+*/%^]?=)$/.test(this.#tokens[this.#at + 1] ?? "");
        const value = this.#or();
        if (!isAssignment) this.output += `${formatNumber(value)}\n`;
      }
      if (this.#at < this.#tokens.length && !/^[;\n]$/.test(this.#tokens[this.#at] ?? "")) {
        throw new Error("syntax error");
      }
    }
  }

  get #scale(): number {
    return Number(this.#variables.get("scale")?.digits ?? 0n);
  }

  #take(...wanted: string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at += 1;
    return token;
  }

  #binary(
    operators: string[],
    operand: () => Decimal,
    apply: (a: Decimal, b: Decimal, operator: string) => Decimal,
  ) {
    let left = operand();
    for (let operator = this.#take(...operators); operator; operator = this.#take(...operators)) {
      left = apply(left, operand(), operator);
    }
    return left;
  }

  #or(): Decimal {
    if (++this.#depth > MAX_DEPTH) throw new Error("too many parentheses");
    const truth = (is: boolean) => (is ? ONE : ZERO);
    const and = () =>
      this.#binary(
        ["&&"],
        () => this.#relation(),
        (a, b) => truth(a.digits !== 0n && b.digits !== 0n),
      );
    const value = this.#binary(["||"], and, (a, b) => truth(a.digits !== 0n || b.digits !== 0n));
    this.#depth -= 1;
    return value;
  }

  #relation(): Decimal {
    return this.#binary(
      ["<", ">", "<=", ">=", "==", "!="],
      () => this.#sum(),
      (a, b, operator) => {
        const order = compare(a, b);
        const holds =
          operator === "!="
            ? order !== 0
            : (operator.includes("=") && order === 0) ||
              (operator[0] === "<" && order < 0) ||
              (operator[0] === ">" && order > 0);
        return holds ? ONE : ZERO;
      },
    );
  }

  readonly #sum = (): Decimal =>
    this.#binary(["+", "-"], this.#product, (a, b, operator) =>
      add(a, operator === "+" ? b : negate(b)),
    );

  readonly #product = (): Decimal =>
    this.#binary(["*", "/", "%"], this.#unary, (a, b, operator) => this.#apply(a, b, operator));

  #apply(a: Decimal, b: Decimal, operator: string): Decimal {
    if (operator === "+") return add(a, b);
    if (operator === "-") return add(a, negate(b));
    if (operator === "*") return multiply(a, b, this.#scale);
    if (operator === "/") return divide(a, b, this.#scale);
    if (operator === "^") return power(a, b, this.#scale);
    const quotient = divide(a, b, this.#scale);
    const rest = Math.max(this.#scale + b.scale, a.scale);
    return add(a, negate(multiply(quotient, b, rest)));
  }

  readonly #unary = (): Decimal => {
    if (this.#take("-")) return negate(this.#guarded(this.#unary));
    if (this.#take("!")) return this.#guarded(this.#unary).digits === 0n ? ONE : ZERO;
    const base = this.#primary();
    return this.#take("^") ? power(base, this.#guarded(this.#unary), this.#scale) : base;
  };

  #guarded(parse: () => Decimal): Decimal {
    if (++this.#depth > MAX_DEPTH) throw new Error("too many operators");
    const value = parse();
    this.#depth -= 1;
    return value;
  }

  #primary(): Decimal {
    const token = this.#tokens[this.#at++] ?? "";
    if (/^[\d.]/.test(token) && token !== ".") return parseNumber(token);
    if (token === "(") return this.#closed();
    if (!/^[a-z]/.test(token)) throw new Error("syntax error");
    if (this.#take("(")) return this.#call(token, this.#closed());
    const old = this.#variables.get(token) ?? ZERO;
    const operator = this.#take("=", "+=", "-=", "*=", "/=", "%=", "^=", "++", "--");
    if (!operator) return old;
    const step = operator === "++" || operator === "--";
    const given = step ? ONE : this.#or();
    const value = operator === "=" ? given : this.#apply(old, given, operator[0] ?? "");
    if (token === "scale" && (value.digits < 0n || value.digits > BigInt(MAX_SCALE)))
      throw new Error(`scale is limited to ${MAX_SCALE}`);
    if (/^[io]base$/.test(token) && value.digits !== 10n)
      throw new Error("only base 10 is supported");
    this.#variables.set(token, token === "scale" ? cut(value, 0) : value);
    return step ? old : value;
  }

  #closed(): Decimal {
    const value = this.#or();
    if (!this.#take(")")) throw new Error("syntax error");
    return value;
  }

  #call(name: string, value: Decimal): Decimal {
    if (name === "sqrt") return squareRoot(value, this.#scale);
    if (name === "scale") return { digits: BigInt(value.scale), scale: 0 };
    if (name === "length")
      return { digits: BigInt(formatNumber(value).replace(/[-.\\\n]/g, "").length), scale: 0 };
    const compute = this.#hasMath ? MATH[name] : undefined;
    if (!compute) throw new Error(`Function ${name} not defined`);
    const result = compute(Number(value.digits) / 10 ** value.scale);
    if (!Number.isFinite(result)) throw new Error("the result is not a number");
    const places = Math.min(this.#scale, 20);
    const [text, sign] = [Math.abs(result).toFixed(places), result < 0 ? -1n : 1n];
    return bounded(sign * BigInt(text.replace(".", "")), places);
  }
}

export const bcCommand: Command = defineCommand("bc", async (args, context) => {
  const parsed = optionsOf(args, {
    mathlib: { type: "boolean", short: "l" },
    quiet: { type: "boolean", short: "q" },
    standard: { type: "boolean", short: "s" },
  });
  if (typeof parsed === "string") return failed("bc", parsed);
  let text = "";
  for (const name of [...parsed.positionals, "-"]) {
    const bytes = await inputOf(name, context).catch(() => null);
    if (!bytes) return failed("bc", `File ${name} is unavailable.`);
    text += `${decodeBytesToUtf8(bytes.toString("latin1") as never)}\n`;
  }
  const calculator = new Calculator(text, parsed.values.mathlib === true);
  try {
    calculator.run(context.limits.maxOutputSize);
    return printed(calculator.output);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return printed(calculator.output, `bc: ${problem}\n`, 1);
  }
});
