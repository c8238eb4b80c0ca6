/** The output of a command: results to stdout, progress to stderr. */
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];
type Stream = NodeJS.WriteStream;

export interface Output {
  readonly isJson: boolean;
  /** Prints a value with `--json`, else the lines that `describe` makes of it. */
  result<V>(value: V, describe: (value: V) => string | readonly string[]): void;
  /** Prints a part of a text at once, but not with `--json`. */
  text(part: string): void;
  /** One JSON document to a line; only with `--json`. */
  event(value: unknown): void;
  /** Not with `--json`, and only if stderr is a terminal. */
  progress(line: string): void;
  error(line: string): void;
}

interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function createOutput(isJson: boolean, { stdout, stderr, env }: Streams): Output {
  const styled = (style: Style, text: string, stream: Stream) =>
    stream.isTTY && !env.NO_COLOR ? styleText(style, text, { validateStream: false }) : text;
  return {
    isJson,
    result(value, describe) {
      const lines = isJson ? JSON.stringify(value, null, 2) : [describe(value)].flat().join("\n");
      if (lines !== "") stdout.write(`${withoutControls(lines)}\n`);
    },
    text: (part) => void (isJson || stdout.write(withoutControls(part))),
    event: (value) => void (isJson && stdout.write(`${JSON.stringify(value)}\n`)),
    progress: (line) =>
      void (
        !isJson &&
        stderr.isTTY &&
        stderr.write(`${styled("dim", withoutControls(line), stderr)}\n`)
      ),
    error: (line) => void stderr.write(`${styled("red", withoutControls(line), stderr)}\n`),
  };
}

/** Text of an agent or a file must not control the terminal. Keeps line breaks and tabs. */
const withoutControls = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  text.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");

/** Returns rows as columns of equal width, without trailing spaces. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, place) =>
    Math.max(...rows.map((row) => (row[place] ?? "").length)),
  );
  return rows.map((row) =>
    row
      .map((cell, place) => cell.padEnd(widths[place] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
