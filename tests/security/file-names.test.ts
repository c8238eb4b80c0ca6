import { safeEntryPath, safeFileName, streamZip } from "@platform/kit/zip";
import { expect, test } from "vitest";
import { attachment } from "../../lib/sandbox/file-response.ts";

test.each([
  ["statement 2026.csv", "statement 2026.csv"],
  ["März – Größe.txt", "März – Größe.txt"],
  [".bashrc", ".bashrc"],
  ["..", "_"],
  ["..\\..\\evil.exe", "__.._evil.exe"],
  ["C:\\evil.exe", "C__evil.exe"],
  ["a\r\nset-cookie: b.txt", "a__set-cookie_ b.txt"],
  ["gpj.\u202eexe.scr", "gpj._exe.scr"],
  ["con.txt", "_con.txt"],
  ["con .txt", "_con .txt"],
  ["CONIN$", "_CONIN$"],
  ["com\u00b9.txt", "_com\u00b9.txt"],
  ["console.txt", "console.txt"],
  ["name. ", "name_"],
  ["", "_"],
])("%j is %j to other file systems", (name, safe) => {
  expect(safeFileName(name)).toBe(safe);
  expect(attachment(name)).toBe(attachment(safe));
});

test("entries that differ stay apart, and files in their folder", () => {
  expect(safeEntryPath("a\\b.txt")).toMatch(/^a_b-[0-9a-f]{8}\.txt$/);
  expect(safeEntryPath("a\\b.txt")).not.toBe(safeEntryPath("a:b.txt"));
  const folder = safeEntryPath("x:y");
  expect(safeEntryPath("x:y/one.txt")).toBe(`${folder}/one.txt`);
});

test("an archive has safe names only", async () => {
  const modifiedAt = new Date();
  const entries = ["..\\..\\evil.exe", "a/C:\\b", "line\nbreak"].map((name) => ({
    name,
    modifiedAt,
    content: "",
  }));
  const bytes = Buffer.from(await new Response(streamZip(entries)).arrayBuffer()).toString();
  expect(bytes).not.toMatch(/\.\.\\|C:\\|line\n/);
});
