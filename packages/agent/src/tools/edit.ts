import { isUtf8 } from "node:buffer";
import { formatOf } from "@platform/documents/document";
import { MAX_FILE_BYTES } from "@platform/sandbox/port";
import { z } from "zod";
import { changeFile } from "./change-file.ts";
import { countLines, cut, filePath } from "./limits.ts";
import { agentTool, toolFailure } from "./tool.ts";

const MAX_MATCHES = 100_000;
const MAX_LISTED_LINES = 10;
/** Larger files and texts are not compared with each other after a search without a match. */
const MAX_COMPARED_BYTES = 1024 * 1024;
const MAX_COMPARED_LINE_CHARS = 500;
const MAX_SHOWN_LINE_CHARS = 200;
/** Of the pairs of characters in two lines. A line that shares less is not called the nearest. */
const MIN_SHARED = 0.4;

export const edit = agentTool({
  name: "edit",
  description: `Replace an exact text in a text file of the sandbox.
- oldString must be in the file exactly once, with its blanks and indentation: read the file first, and give enough lines around the place. replaceAll replaces each occurrence.
- Keeps the line endings of the file, and everything outside of oldString. To make a file, or to replace it as a whole, use write.
- Gives {filePath, replacements, startLine, bytes}; startLine is the line of the first replacement.`,
  input: z.object({
    filePath,
    oldString: z.string().min(1).describe("The text to replace, without line numbers"),
    newString: z.string().describe("The text in its place; empty to delete"),
    replaceAll: z.boolean().optional().describe("Replace every occurrence; default false"),
  }),
  async execute({ filePath, oldString, newString, replaceAll = false }, context) {
    const { sandbox } = context;
    return changeFile(context, filePath, async () => {
      const file = Buffer.from(await sandbox.readFile(filePath));
      const format = formatOf(file, filePath);
      if (format) {
        return toolFailure(`${filePath} is a document (${format}): write it as a whole`);
      }
      if (file.includes(0) || !isUtf8(file)) {
        return toolFailure(
          `${filePath} is no text in UTF-8. If read decodes it, edit its utf8Copy`,
        );
      }
      const endings = lineEndingsOf(file);
      const wanted = Buffer.from(endings(oldString));
      const replacement = Buffer.from(endings(newString));
      if (wanted.equals(replacement)) {
        return toolFailure("oldString and newString are the same, also in their line endings");
      }
      const found = findAll(file, wanted);
      const [first] = found;
      if (first === undefined) return toolFailure(describeMiss(file, filePath, oldString));
      if (found.length > MAX_MATCHES) {
        return toolFailure(`oldString is in ${filePath} more than ${MAX_MATCHES} times: use bash`);
      }
      if (found.length > 1 && !replaceAll) {
        const lines = found.slice(0, MAX_LISTED_LINES).map((at) => lineOf(file, at));
        const more = found.length > MAX_LISTED_LINES ? ", …" : "";
        return toolFailure(
          `oldString is in ${filePath} ${found.length} times, at the lines ${lines.join(", ")}${more}: give more of the text around it, or set replaceAll`,
        );
      }
      const places: number[] = [];
      for (const at of found)
        if (at >= (places.at(-1) ?? -wanted.length) + wanted.length) places.push(at);
      const bytes = file.length + places.length * (replacement.length - wanted.length);
      if (bytes > MAX_FILE_BYTES) return toolFailure(`${filePath} would be too large`);
      const ends = [0, ...places.map((at) => at + wanted.length)];
      const parts = places.flatMap((at, n) => [file.subarray(ends[n], at), replacement]);
      await sandbox.writeFile(filePath, Buffer.concat([...parts, file.subarray(ends.at(-1))]));
      return { filePath, replacements: places.length, startLine: lineOf(file, first), bytes };
    });
  },
});

/** Returns what gives a text the line endings of a file; a file with several kinds leaves it as it is. */
function lineEndingsOf(file: Buffer): (text: string) => string {
  const content = file.toString("latin1");
  const [isWindows, isUnix] = [content.includes("\r\n"), /(?<!\r)\n/.test(content)];
  if (isWindows === isUnix) return (text) => text;
  return (text) => text.replace(/\r?\n/g, isWindows ? "\r\n" : "\n");
}

/**
 * Returns the positions of a text, overlaps included, and one more than are replaced at most. Takes linear
 * time (Knuth, Morris and Pratt), unlike `indexOf`, which a hostile text would keep busy for minutes.
 */
function findAll(file: Uint8Array, wanted: Uint8Array): number[] {
  const borders = new Uint32Array(wanted.length);
  const found: number[] = [];
  const advance = (matched: number, byte: number | undefined): number => {
    let length = matched;
    while (length > 0 && wanted[length] !== byte) length = borders[length - 1] ?? 0;
    return wanted[length] === byte ? length + 1 : length;
  };
  for (let at = 1; at < wanted.length; at++) {
    borders[at] = advance(borders[at - 1] ?? 0, wanted[at]);
  }
  for (let at = 0, matched = 0; at < file.length && found.length <= MAX_MATCHES; at++) {
    matched = advance(matched, file[at]);
    if (matched === wanted.length) found.push(at + 1 - matched);
  }
  return found;
}

const lineOf = (file: Uint8Array, at: number): number => countLines(file.subarray(0, at + 1));

/** Describes how a text differs from the file that does not contain it, and names the nearest line. */
function describeMiss(file: Buffer, filePath: string, oldString: string): string {
  const miss = `oldString is not in ${filePath}`;
  if (file.length > MAX_COMPARED_BYTES || oldString.length > MAX_COMPARED_BYTES) return miss;
  const text = file.toString();
  const differences = DIFFERENCES.find(([, simplify]) => {
    const wanted = Buffer.from(simplify(oldString));
    return wanted.length > 0 && findAll(Buffer.from(simplify(text)), wanted).length > 0;
  });
  const differing = differences ? `. It differs only in ${differences[0]}` : "";
  const nearest = nearestLine(text, oldString);
  if (!nearest) return `${miss}${differing}`;
  const shown = cut(nearest.text, MAX_SHOWN_LINE_CHARS).text;
  return `${miss}${differing}. The nearest line is ${nearest.line}: ${shown}`;
}

const withoutSpace = (text: string): string => text.replace(/\s+/g, "");
const DIFFERENCES: readonly (readonly [string, (text: string) => string])[] = [
  ["its line endings", (text) => text.replace(/\r\n?/g, "\n")],
  ["its whitespace", withoutSpace],
  ["its Unicode normalization", (text) => text.normalize("NFC")],
  ["whitespace and Unicode normalization", (text) => withoutSpace(text.normalize("NFKC"))],
];

/** Returns the line that shares the most pairs of characters with the first line of a text. */
function nearestLine(text: string, wanted: string): { line: number; text: string } | null {
  const pairsOf = (line: string): Set<number> => {
    const plain = withoutSpace(line.slice(0, MAX_COMPARED_LINE_CHARS).normalize("NFKC"));
    const pairs = new Set<number>();
    for (let at = 1; at < plain.length; at++) {
      pairs.add((plain.charCodeAt(at - 1) * 31 + plain.charCodeAt(at)) & 0xffff);
    }
    return pairs;
  };
  const sought = pairsOf(wanted.trimStart().split(/\r?\n/, 1)[0] ?? "");
  let [best, nearest]: [number, { line: number; text: string } | null] = [MIN_SHARED, null];
  for (const [place, line] of text.split(/\r?\n/).entries()) {
    const pairs = pairsOf(line);
    let shared = 0;
    for (const pair of pairs) if (sought.has(pair)) shared++;
    const share = (2 * shared) / Math.max(1, pairs.size + sought.size);
    if (share > best) [best, nearest] = [share, { line: place + 1, text: line }];
  }
  return nearest;
}
