/**
 * Keeps bytes that are not UTF-8 in the texts which the shell joins, such as the output of a loop: each is a lone
 * surrogate there, as in Python's `surrogateescape`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { isUtf8 } from "node:buffer";
import { type ByteString, type ExecResult, stdoutKind, unsafeBytesFromLatin1 } from "just-bash";

/** Returns a result whose output is text. */
export function keepBytes(result: ExecResult): ExecResult {
  if (stdoutKind(result) !== "bytes") return result;
  const { stdoutEncoding, stdout, ...rest } = result;
  const text = keptText(Buffer.from(stdout, "latin1"));
  return accounted({ ...rest, stdout: text, stdoutKind: "text" }, Buffer.byteLength(text));
}

/** Returns bytes as a text in which all of them are kept. */
export function keptText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer)) return buffer.toString();
  const keep = (byte: string) => String.fromCharCode(0xdc00 + byte.charCodeAt(0));
  return buffer.toString("latin1").replace(/[\x80-\xff]/g, keep);
}

/** Whether the running command gets its input as text; undefined outside of commands. */
export const textInput = new AsyncLocalStorage<boolean>();

/**
 * Returns bytes as the input of a command: one character for each, which a command decodes if it takes text. If they
 * are not UTF-8, it would take them for characters of Latin-1, so those above 127 are lone surrogates in its place.
 */
export function inputOf(bytes: Uint8Array, isText = textInput.getStore() ?? false): ByteString {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isKept = isText && !isUtf8(buffer);
  return unsafeBytesFromLatin1(isKept ? keptText(buffer) : buffer.toString("latin1"));
}

/** Returns a result whose output is bytes if its text has some that are not text. */
export function restoreBytes(result: ExecResult): ExecResult {
  const bytes = stdoutKind(result) === "text" ? keptBytes(result.stdout) : null;
  if (!bytes) return result;
  const stdout = bytes.toString("latin1");
  return accounted({ ...result, stdout, stdoutKind: "bytes" }, bytes.length);
}

/** The shell counts the bytes of an output once, and refuses a result with fewer than it has counted. */
const accounted = (result: ExecResult, bytes: number): ExecResult => {
  const counted = result.internalOutputAccounting;
  return counted ? { ...result, internalOutputAccounting: { ...counted, stdout: bytes } } : result;
};

/** Returns a text as it is shown. */
export const shownText = (text: string): string => keptBytes(text)?.toString() ?? text;

/** Returns the bytes of a text that has some that are not text; null for any other. */
export function keptBytes(text: string): Buffer | null {
  if (text.isWellFormed()) return null;
  const pieces = text.match(/[\udc80-\udcff]+|[^\udc80-\udcff]+/gu) ?? [];
  return Buffer.concat(
    pieces.map((piece) =>
      piece.isWellFormed()
        ? Buffer.from(piece)
        : Buffer.from(Array.from(piece, (unit) => unit.charCodeAt(0) - 0xdc00)),
    ),
  );
}
