/** The command `date` of GNU coreutils. */
import { type Command, defineCommand } from "just-bash";
import { failed, optionsOf, printed } from "./options.ts";
import { formatTime, parseTime, zoneOf } from "./time-zone.ts";

const RFC_EMAIL = "%a, %d %b %Y %H:%M:%S %z";
const ISO: Readonly<Record<string, string>> = {
  date: "%F",
  hours: "%FT%H%:z",
  minutes: "%FT%H:%M%:z",
  seconds: "%FT%T%:z",
  ns: "%FT%T,%N%:z",
};
const OPTIONS = {
  date: { type: "string", short: "d" },
  file: { type: "string", short: "f" },
  reference: { type: "string", short: "r" },
  utc: { type: "boolean", short: "u" },
  universal: { type: "boolean" },
  "rfc-email": { type: "boolean", short: "R" },
  "rfc-2822": { type: "boolean" },
  "rfc-3339": { type: "string" },
} as const;

export const dateCommand: Command = defineCommand(
  "date",
  async (args, { env, fs, cwd, limits }) => {
    // The value of this option is optional, which `parseArgs` does not know.
    const iso = args.map((arg) => /^(?:-u?I|--iso-8601=?)([a-z]*)$/.exec(arg)).find(Boolean);
    const parsed = optionsOf(
      args.filter((arg) => arg !== iso?.[0]),
      OPTIONS,
    );
    if (typeof parsed === "string") return failed("date", parsed);
    const { values, positionals } = parsed;
    const isUtc = values.utc || values.universal || iso?.[0].startsWith("-u");
    const zone = isUtc ? "UTC" : zoneOf(env.get("TZ"));
    const lines: string[] = values.date === undefined ? [] : [values.date];
    if (values.file !== undefined) {
      const text = await fs.readFile(fs.resolvePath(cwd, values.file)).catch(() => null);
      if (text === null) return failed("date", `${values.file}: No such file or directory`);
      lines.push(...text.replace(/\n$/, "").split("\n"));
    }
    const times: number[] = [];
    for (const line of lines) {
      const ms = parseTime(line, Date.now(), zone);
      if (ms === null) return failed("date", `invalid date '${line}'`);
      times.push(ms);
    }
    if (values.reference !== undefined) {
      const found = await fs.stat(fs.resolvePath(cwd, values.reference)).catch(() => null);
      if (!found) return failed("date", `${values.reference}: No such file or directory`);
      times.push(found.mtime.getTime());
    }
    const [operand, extra] = positionals;
    if (extra !== undefined) return failed("date", `extra operand '${extra}'`);
    if (operand !== undefined && !operand.startsWith("+")) {
      return failed("date", "cannot set date: Operation not permitted");
    }
    const rfc3339 = (ISO[values["rfc-3339"] ?? ""] ?? "").replace("T", " ").replace(",", ".");
    const isEmail = values["rfc-email"] || values["rfc-2822"];
    const format =
      operand?.slice(1) ??
      (rfc3339 || (isEmail ? RFC_EMAIL : iso ? ISO[iso[1] || "date"] : "%a %b %e %H:%M:%S %Z %Y"));
    if (format === undefined) return failed("date", `invalid argument '${iso?.[1]}'`);
    let output = "";
    for (const ms of times.length > 0 || values.file !== undefined ? times : [Date.now()]) {
      output += `${formatTime(format, ms, zone)}\n`;
      if (output.length > limits.maxOutputSize) return failed("date", "the output is too long");
    }
    return printed(output);
  },
);
