/** The command `numfmt` of GNU coreutils. */
import { type Command, decodeBytesToUtf8, defineCommand } from "just-bash";
import { failed, optionsOf, printed } from "./options.ts";

const PREFIXES = "KMGTPEZY";

export const numfmtCommand: Command = defineCommand("numfmt", async (args, context) => {
  const parsed = optionsOf(args, {
    ...{
      to: { type: "string" },
      from: { type: "string" },
      format: { type: "string" },
      suffix: { type: "string" },
    },
    ...{
      grouping: { type: "boolean" },
      field: { type: "string" },
      delimiter: { type: "string", short: "d" },
      padding: { type: "string" },
    },
    ...{
      round: { type: "string" },
      "to-unit": { type: "string" },
      "from-unit": { type: "string" },
      header: { type: "boolean" },
    },
  });
  if (typeof parsed === "string") return failed("numfmt", parsed);
  const { values, positionals } = parsed;
  const input =
    positionals.length > 0 ? `${positionals.join("\n")}\n` : decodeBytesToUtf8(context.stdin);
  const lines = input.split("\n").slice(0, input.endsWith("\n") ? -1 : undefined);
  const field = Number(values.field ?? 1);
  const [, before, grouped, width, places, after] =
    /^(.*?)%(')?(-?\d*)(?:\.(\d+))?f(.*)$/.exec(values.format ?? "%f") ?? [];
  if (before === undefined || width === undefined)
    return failed("numfmt", `invalid format '${values.format}'`);
  const size = (system: string | undefined) => (system === "si" ? 1000 : 1024);
  const convert = (word: string): string | null => {
    const [, number, prefix, tail] =
      /^([+-]?\d+(?:\.\d+)?)([KkMGTPEZY]?)(i?.*)$/.exec(word.trim()) ?? [];
    const isScaled = prefix !== "" && values.from !== undefined && values.from !== "none";
    const rest = (tail ?? "")
      .replace(isScaled && /^(auto|iec-i)$/.test(values.from ?? "") ? /^i/ : "", "")
      .replace(values.suffix ?? "", "");
    if (number === undefined || prefix === undefined || rest !== "" || (prefix !== "" && !isScaled))
      return null;
    const base = values.from === "auto" && !tail?.startsWith("i") ? 1000 : size(values.from);
    let value = Number(number) * base ** (PREFIXES.indexOf(prefix.toUpperCase() || "-") + 1);
    value = (value * Number(values["from-unit"] ?? 1)) / Number(values["to-unit"] ?? 1);
    const decimals = places === undefined ? (number.split(".")[1]?.length ?? 0) : Number(places);
    const away = (x: number, digits: number) => {
      const shifted = Math.abs(x) * 10 ** digits;
      const rounded =
        values.round === "down"
          ? Math.floor(shifted)
          : values.round === "nearest"
            ? Math.round(shifted)
            : Math.ceil(shifted - 1e-9);
      return (Math.sign(x) * rounded) / 10 ** digits;
    };
    let shown: string;
    if (values.to && values.to !== "none") {
      const unit = size(values.to);
      let power = 0;
      while (power < PREFIXES.length && Math.abs(away(value, 0)) >= unit) {
        value /= unit;
        power += 1;
      }
      const digits =
        places !== undefined ? Number(places) : power > 0 && Math.abs(away(value, 1)) < 10 ? 1 : 0;
      const letters =
        power === 0 ? "" : `${PREFIXES[power - 1]}${values.to === "iec-i" ? "i" : ""}`;
      shown = `${away(value, digits).toFixed(digits)}${values.to === "si" && letters === "K" ? "K" : letters}`;
    } else
      shown = (isScaled && places === undefined ? away(value, 0) : away(value, decimals)).toFixed(
        isScaled && places === undefined ? 0 : decimals,
      );
    // The locale of the sandbox has no separator, as in C.UTF-8.
    if (values.grouping || grouped)
      shown = shown.replace(/^(-?)(\d+)/, (_, sign: string, whole: string) => sign + whole);
    const padding = Number(values.padding ?? width) || 0;
    const full = shown + (values.suffix ?? "");
    return before + (padding < 0 ? full.padEnd(-padding) : full.padStart(padding)) + after;
  };
  const output: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (values.header && index === 0) output.push(`${line}\n`);
    else {
      const parts =
        values.delimiter === undefined ? line.split(/(?<=\S)(\s+)/) : line.split(values.delimiter);
      const at = values.delimiter === undefined ? 2 * (field - 1) : field - 1;
      const converted = convert(parts[at] ?? "");
      if (converted === null)
        return printed(output.join(""), `numfmt: invalid number: '${parts[at] ?? ""}'\n`, 2);
      parts[at] = converted;
      output.push(`${parts.join(values.delimiter ?? "")}\n`);
    }
  }
  return printed(output.join(""));
});
