/** The commands `xxd` and `iconv`. */
import { type Command, defineCommand } from "just-bash";
import { failed, inputOf, optionsOf, printed, printedBytes, reasonOf } from "./options.ts";

const XXD_OPTIONS = {
  postscript: { type: "boolean", short: "p" },
  revert: { type: "boolean", short: "r" },
  upper: { type: "boolean", short: "u" },
  len: { type: "string", short: "l" },
  seek: { type: "string", short: "s" },
  cols: { type: "string", short: "c" },
  group: { type: "string", short: "g" },
} as const;

export const xxdCommand: Command = defineCommand("xxd", async (args, context) => {
  const given = args.map((arg) => (/^-(ps|plain)$/.test(arg) ? "-p" : arg));
  const parsed = optionsOf(given, XXD_OPTIONS);
  if (typeof parsed === "string") return failed("xxd", parsed);
  const { values, positionals } = parsed;
  let input: Buffer;
  try {
    input = await inputOf(positionals[0], context);
  } catch (error) {
    return failed("xxd", `${positionals[0]}: ${reasonOf(error)}`, 2);
  }
  const [seek, length, group] = [values.seek ?? "0", values.len, values.group ?? "2"].map(
    Number,
  ) as [number, number, number];
  const columns = Number(values.cols ?? (values.postscript ? 30 : 16));
  if (![seek, columns, group].every(Number.isSafeInteger) || columns < 0)
    return failed("xxd", "invalid number");
  if (values.revert) {
    const hex = values.postscript
      ? input.toString("latin1").replace(/[^0-9a-f]/gi, "")
      : input
          .toString("latin1")
          .split("\n")
          .map(
            (line) =>
              /^[0-9a-f]+: ?((?:[0-9a-f]{2,} ?)*)/i.exec(line)?.[1]?.replaceAll(" ", "") ?? "",
          )
          .join("");
    return write(Buffer.from(hex, "hex"));
  }
  const start = seek < 0 ? Math.max(0, input.length + seek) : seek;
  const bytes = input.subarray(start, values.len === undefined ? undefined : start + length);
  const width = columns || bytes.length || 1;
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += width) {
    const row = bytes.subarray(at, at + width);
    const hex = values.upper ? row.toString("hex").toUpperCase() : row.toString("hex");
    if (values.postscript) lines.push(`${hex}\n`);
    else {
      const step = group > 0 ? group : width;
      const groups = hex.match(new RegExp(`.{1,${step * 2}}`, "g")) ?? [];
      const room = 2 * width + Math.ceil(width / step) - 1;
      const text = row.toString("latin1").replace(/[^\x20-\x7e]/g, ".");
      lines.push(
        `${(start + at).toString(16).padStart(8, "0")}: ${groups.join(" ").padEnd(room)}  ${text}\n`,
      );
    }
  }
  return write(Buffer.from(lines.join("")));

  async function write(result: Buffer) {
    const [, target] = positionals;
    if (target === undefined) return printedBytes(result);
    try {
      await context.fs.writeFile(context.fs.resolvePath(context.cwd, target), result);
      return printed("");
    } catch (error) {
      return failed("xxd", `${target}: ${reasonOf(error)}`, 3);
    }
  }
});

const encoders = new Map<string, ReadonlyMap<string, readonly number[]>>();

/** Returns the bytes of each character of an encoding, found by decoding all sequences of one and two bytes. */
function encoderOf(label: string): ReadonlyMap<string, readonly number[]> {
  const known = encoders.get(label);
  if (known) return known;
  const decoder = new TextDecoder(label, { fatal: true });
  const table = new Map<string, readonly number[]>();
  const learn = (bytes: readonly number[]): boolean => {
    try {
      const text = decoder.decode(Uint8Array.from(bytes));
      if (text.length > 0 && [...text].length === 1 && !table.has(text)) table.set(text, bytes);
      return text.length > 0;
    } catch {
      return false;
    }
  };
  for (let first = 0; first < 256; first++) {
    if (learn([first])) continue;
    for (let second = 0x30; second < 256; second++) learn([first, second]);
  }
  encoders.set(label, table);
  return table;
}

const LABELS: Readonly<Record<string, string>> = {
  ...{ utf8: "utf-8", utf16: "utf-16le", utf16le: "utf-16le", utf16be: "utf-16be", ascii: "ascii" },
  ...{ usascii: "ascii", latin1: "latin1", iso88591: "latin1", cp1252: "windows-1252" },
  ...{
    latin9: "iso-8859-15",
    cp1250: "windows-1250",
    cp1251: "windows-1251",
    macintosh: "macintosh",
  },
  ...{
    sjis: "shift_jis",
    shiftjis: "shift_jis",
    cp932: "shift_jis",
    eucjp: "euc-jp",
    euckr: "euc-kr",
  },
};

/** Returns the encoding of a name as `iconv` knows it; null for none. */
function labelOf(name: string): string | null {
  const known = LABELS[name.toLowerCase().replace(/[-_]/g, "")];
  if (known) return known;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return null;
  }
}

export const iconvCommand: Command = defineCommand("iconv", async (args, context) => {
  const parsed = optionsOf(args, {
    "from-code": { type: "string", short: "f" },
    "to-code": { type: "string", short: "t" },
    output: { type: "string", short: "o" },
    skip: { type: "boolean", short: "c" },
    silent: { type: "boolean", short: "s" },
    list: { type: "boolean", short: "l" },
  });
  if (typeof parsed === "string") return failed("iconv", parsed);
  const { values, positionals } = parsed;
  if (values.list) return printed(`${Object.keys(LABELS).join("\n")}\n`);
  const [target = "utf-8", ...suffixes] = (values["to-code"] ?? "utf-8").split("//");
  const [from, to] = [
    labelOf((values["from-code"] ?? "utf-8").split("//")[0] ?? ""),
    labelOf(target),
  ];
  if (!from || !to)
    return failed(
      "iconv",
      `conversion from '${values["from-code"]}' to '${target}' is not supported`,
    );
  const skips = values.skip || suffixes.some((suffix) => /ignore/i.test(suffix));
  const replaces = suffixes.some((suffix) => /translit/i.test(suffix));
  const results: Uint8Array[] = [];
  let problem = "";
  for (const name of positionals.length > 0 ? positionals : ["-"]) {
    let input: Buffer;
    try {
      input = await inputOf(name, context);
    } catch (error) {
      return failed("iconv", `cannot open input file '${name}': ${reasonOf(error)}`);
    }
    const isBigEndian =
      /^utf-?16$/i.test(values["from-code"] ?? "") && input[0] === 0xfe && input[1] === 0xff;
    const text = decode(input, isBigEndian ? "utf-16be" : from, skips);
    if (text === null) return failed("iconv", "illegal input sequence");
    // This name has a mark of the byte order.
    const withMark = /^utf-?16$/i.test(target) ? `\ufeff${text}` : text;
    const encoded = encode(withMark, to, skips, replaces);
    if (typeof encoded === "string") problem = `cannot convert '${encoded}' to ${target}`;
    else results.push(encoded);
  }
  if (problem) return failed("iconv", problem);
  const bytes = Buffer.concat(results);
  if (values.output === undefined) return printedBytes(bytes);
  try {
    await context.fs.writeFile(context.fs.resolvePath(context.cwd, values.output), bytes);
    return printed("");
  } catch (error) {
    return failed("iconv", `${values.output}: ${reasonOf(error)}`);
  }
});

function decode(input: Buffer, label: string, skips: boolean): string | null {
  // The decoder of this name decodes Windows-1252.
  if (label === "latin1") return input.toString("latin1");
  if (label === "ascii") {
    if (!input.some((byte) => byte > 127)) return input.toString("latin1");
    return skips ? input.toString("latin1").replace(/[^\0-\x7f]/g, "") : null;
  }
  try {
    const text = new TextDecoder(label, { fatal: !skips, ignoreBOM: label === "utf-8" }).decode(
      input,
    );
    return skips ? text.replaceAll("\ufffd", "") : text;
  } catch {
    return null;
  }
}

/** Returns the first character that the encoding does not have. */
function encode(
  text: string,
  label: string,
  skips: boolean,
  replaces: boolean,
): Uint8Array | string {
  if (label === "utf-8") return Buffer.from(text);
  if (label.startsWith("utf-16")) {
    const bytes = Buffer.from(text, "utf16le");
    return label === "utf-16be" ? bytes.swap16() : bytes;
  }
  const last = label === "latin1" ? 255 : 127;
  const table = label === "latin1" || label === "ascii" ? null : encoderOf(label);
  const codesOf = (char: string): readonly number[] | undefined => {
    const code = char.codePointAt(0) ?? 0;
    return table ? table.get(char) : code <= last ? [code] : undefined;
  };
  const bytes: number[] = [];
  for (const char of text) {
    const codes = codesOf(char);
    if (codes) bytes.push(...codes);
    else if (replaces) {
      const plain = PLAIN[char] ?? char.normalize("NFKD").replace(/\p{M}/gu, "");
      for (const part of plain) bytes.push(...(codesOf(part) ?? (skips ? [] : [0x3f])));
    } else if (!skips) return char;
  }
  return Uint8Array.from(bytes);
}

/** The replacements of glibc for characters that have no decomposition. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{
    "€": "EUR",
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "…": "...",
  },
  ...{
    ß: "ss",
    ø: "o",
    Ø: "O",
    æ: "ae",
    Æ: "AE",
    œ: "oe",
    Œ: "OE",
    ł: "l",
    Ł: "L",
    "«": "<<",
    "»": ">>",
  },
};
