/** Documents that the tool `read` reads, written by LibreOffice and by hostile hands. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { utils, write } from "@e965/xlsx";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { formatNumber } from "../../../packages/documents/src/cell-format.ts";
import { createToolFixture } from "../../support/fixtures/agent-tools.ts";

let tools: Awaited<ReturnType<typeof createToolFixture>>;
beforeAll(async () => {
  tools = await createToolFixture();
});
afterAll(async () => {
  expect(tools.faults).toEqual([]);
  await tools.remove();
});

const folder = "tests/support/fixtures/documents";
const answer = z.object({
  content: z.string(),
  totalLines: z.number(),
  truncated: z.boolean(),
});

async function put(name: string, content?: Uint8Array): Promise<string> {
  const bytes = content ?? (await readFile(join(folder, name)));
  await tools.sandbox.writeFile(name, bytes);
  return name;
}

const read = async (name: string, more: object = {}) =>
  answer.parse(await tools.run("read", { filePath: name, ...more }));

const textIn = async (path: string) => new TextDecoder().decode(await tools.sandbox.readFile(path));

describe("a contract", () => {
  it("is read by the pages that are asked for, if it is a PDF", async () => {
    await put("contract.pdf");
    const whole = await read("contract.pdf");
    expect(await read("contract.pdf", { pages: "1" })).toEqual(whole);
    expect((await read("contract.pdf", { pages: "1-3" })).content).toBe(whole.content);
    const failed = { error: "contract.pdf has no text on pages 2: PDF, 1 page." };
    expect(await tools.run("read", { filePath: "contract.pdf", pages: "2" })).toEqual(failed);
    await put("contract.docx");
    expect(await tools.run("read", { filePath: "contract.docx", pages: "1" })).toEqual({
      error: "contract.docx is no PDF: omit pages",
    });
    expect(await tools.run("read", { filePath: "contract.pdf", pages: "1,2" })).toEqual({
      error: expect.stringContaining("pages such as 4-6"),
    });
  });

  it("in Japanese is text in the worker, which reads the character maps", async () => {
    const { content } = await read(await put("japanese-unijis.pdf"));
    expect(content).toContain("印税は十八パーセント");
  });

  it("is read by lines like any text", async () => {
    await put("contract.docx");
    const whole = await read("contract.docx");
    const part = await read("contract.docx", { offset: 3, limit: 2 });
    expect(part.content).toBe(`${whole.content.split("\n").slice(2, 4).join("\n")}\n`);
    expect(part.totalLines).toBe(whole.totalLines);
  });
});

describe("a spreadsheet", () => {
  const csv = [
    "Store,Date,UPC,ISRC,Units,Net",
    "Spotify,2026-01-31,0123456789012,QZ1AB2600001,1204,12.345678",
    '"Apple, Music",2026-02-28,0123456789012,QZ1AB2600002,-3,-0.5',
  ].join("\n");

  it("shows durations, identifiers and formulas as people see them", async () => {
    const { content } = await read(await put("tracks.xlsx"));
    expect(content.split("\n")[0]).toMatch(/^XLSX, 1 sheet\. 1 formula without a stored value\. /);
    expect(content.split("---\n")[1]).toBe(`Title,Length,Total,UPC,Share,Released,Net
Harbour,3:45,27:01:05,0602445790128,0.155,2025-12-31,100
Night Bus,3:11,12:00:00,0045778123457,0.845,2026-01-01,250.5
Sum,,,,,,=SUM(G2:G3) (no stored value)
`);
    const from1904 = true;
    expect(formatNumber(44560, "yyyy-mm-dd", from1904)).toBe("2025-12-31");
  });

  it.each([
    [0.75, "h:mm AM/PM", "18:00"],
    [0.0521, "[mm]:ss", "75:01.44"],
    [-0.5, "[h]:mm:ss;@", "-12:00:00"],
    [46022.5, "m/d/yy h:mm", "2025-12-31T12:00:00"],
    [46022, '[$-409]d"." mmmm yyyy', "2025-12-31"],
    [59, "d/m/yyyy", "1900-02-28"],
    [4e6, "yyyy-mm-dd", "4000000"],
    [123456789, "000\\-00\\-0000", "123-45-6789"],
    [12.5, "00000", "12.5"],
    [7, '0" days"', "7"],
    [12.5, '[Red]#,##0.00 "EUR";@', "12.5"],
    [1, "0".repeat(1_000_000), "1"],
  ])("%s in the format %s is %s", (value, format, text) => {
    expect(formatNumber(value, format)).toBe(text);
  });

  it.each(["xlsx", "xls", "ods"])("%s keeps its texts, numbers and dates", async (extension) => {
    const name = await put(`statement.${extension}`);
    const { content } = await read(name);
    const path = `/home/agent/.converted/${name}/statement.csv`;
    expect(content).toBe(
      `${extension.toUpperCase()}, 1 sheet. As CSV with 3 rows: ${path}\n\n--- Sheet 1: statement (3 rows) ---\n${csv}\n`,
    );
    expect(await textIn(path)).toBe(`${csv}\n`);
  });

  it("of many rows is whole as CSV, and sheets of one name do not meet", async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => [
      "Spotify",
      `QZ1AB26${n}`,
      n / 4,
      "x".repeat(40),
    ]);
    const book = utils.book_new(utils.aoa_to_sheet(rows), "Q1/2026".replace("/", "-"));
    utils.book_append_sheet(book, utils.aoa_to_sheet([["=cmd|' /C calc'!A0", true]]), "q1-2026 ");
    utils.book_append_sheet(book, utils.aoa_to_sheet([[]]), "..");
    const bytes = write(book, { type: "buffer", bookType: "xlsx", compression: true });
    const { content, truncated } = await read(await put("large.xlsx", new Uint8Array(bytes)));
    expect(truncated).toBe(true);
    expect(content.split("\n")[0]).toContain("XLSX, 3 sheets. As CSV with 20000 rows");
    const whole = await textIn("/home/agent/.converted/large.xlsx/Q1-2026.csv");
    const lines = whole.split("\n");
    expect(lines).toHaveLength(20_001);
    expect(lines[19_999]).toBe(`Spotify,QZ1AB2619999,4999.75,${"x".repeat(40)}`);
    const list = await tools.sandbox.run("find .converted/large.xlsx", {
      timeoutMs: 5_000,
      maxOutputChars: 1_000,
    });
    expect(list.stdout.trim().split("\n").toSorted()).toEqual([
      ".converted/large.xlsx",
      ".converted/large.xlsx/...csv",
      ".converted/large.xlsx/Q1-2026.csv",
      ".converted/large.xlsx/q1-2026 .csv",
    ]);
  });
});

describe("a mail", () => {
  it("is read with what it says of itself", async () => {
    const mail = [
      "From: Mara Vale <mara@example.com>",
      "To: label@example.com",
      "Subject: =?utf-8?q?Split_sheet_=E2=80=93_final?=",
      'Content-Type: multipart/mixed; boundary="b"',
      "",
      "--b",
      "Content-Type: text/plain; charset=utf-8",
      "",
      "50 % each.",
      "--b",
      'Content-Disposition: attachment; filename="split.pdf"',
      "",
      "x",
      "--b--",
    ].join("\r\n");
    const { content } = await read(await put("split.eml", strToU8(mail)));
    expect(content).toContain("EML. Attachments are only named.");
    expect(content).toContain("From: Mara Vale <mara@example.com>");
    expect(content).toContain(
      "Subject: Split sheet – final\nAttachments: split.pdf (text/plain, 2 bytes)\n\n50 % each.",
    );
  });
});

describe("a hostile document", () => {
  const zeros = new Uint8Array(16 * 1024 * 1024);
  /** 208 MiB of zeros in 13 entries that share their bytes: packing each of them would take seconds. */
  const bomb = () => {
    const packed = deflateRawSync(zeros);
    const files: Buffer[] = [];
    const index: Buffer[] = [];
    let offset = 0;
    for (let n = 0; n < 13; n++) {
      const name = Buffer.from(`xl/${n.toString().padStart(2, "0")}.xml`);
      // The fields from the version to the length of the name, and of the absent parts.
      const facts = Buffer.alloc(26);
      facts.writeUInt16LE(20, 0);
      facts.writeUInt16LE(8, 4);
      facts.writeUInt32LE(crc32(zeros), 10);
      facts.writeUInt32LE(packed.length, 14);
      facts.writeUInt32LE(zeros.length, 18);
      facts.writeUInt16LE(name.length, 22);
      const place = Buffer.alloc(14);
      place.writeUInt32LE(offset, 10);
      index.push(Buffer.from("PK\x01\x02\x14\0", "latin1"), facts, place, name);
      const file = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), facts, name, packed]);
      files.push(file);
      offset += file.length;
    }
    const end = Buffer.alloc(18);
    end.writeUInt16LE(13, 4);
    end.writeUInt16LE(13, 6);
    end.writeUInt32LE(Buffer.concat(index).length, 8);
    end.writeUInt32LE(offset, 12);
    return Buffer.concat([...files, ...index, Buffer.from("PK\x05\x06", "latin1"), end]);
  };
  const docx = (xml: string) =>
    zipSync({
      "[Content_Types].xml": strToU8("<Types/>"),
      "_rels/.rels": strToU8(
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
      ),
      "word/document.xml": strToU8(xml),
    });
  const encrypted = () =>
    Buffer.concat([
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      Buffer.alloc(1024),
      Buffer.from("EncryptedPackage", "utf16le"),
    ]);

  it.each<[string, string, () => Uint8Array | undefined, string]>([
    ["a PDF with a password", "protected.pdf", () => undefined, "is protected by a password"],
    ["a workbook with a password", "locked.xlsx", encrypted, "is protected by a password"],
    ["a ZIP bomb", "bomb.xlsx", bomb, "unpacks to more than 200 MB"],
    ["a bomb as a document", "bomb.docx", bomb, "unpacks to more than 200 MB"],
    ["a cut PDF", "cut.pdf", () => strToU8("%PDF-1.7\n1 0 obj\n<<"), "is damaged or no PDF"],
    ["a cut archive", "cut.xlsx", () => zipSync({ a: zeros }).subarray(0, 900), "is damaged"],
    ["an empty archive", "no.docx", () => zipSync({ a: strToU8("a") }), "is damaged or no DOCX"],
  ])("%s is one clear error", async (_, name, bytes, error) => {
    const result = await tools.run("read", { filePath: await put(name, bytes()) });
    expect(result).toEqual({ error: expect.stringContaining(`${name} ${error}`) });
  });

  it("reads no file of the server, and expands no entity", async () => {
    const entities = Array.from({ length: 9 }, (_, n) =>
      n === 0 ? '<!ENTITY e0 "lol">' : `<!ENTITY e${n} "${`&e${n - 1};`.repeat(10)}">`,
    );
    const body = (text: string) =>
      `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`;
    for (const [doctype, entity] of [
      ['<!ENTITY e8 SYSTEM "file:///etc/passwd">', "e8"],
      [entities.join(""), "e8"],
    ]) {
      const xml = `<!DOCTYPE x [${doctype}]>${body(`start &${entity}; end`)}`;
      const result = await tools.run("read", { filePath: await put("entity.docx", docx(xml)) });
      const text = JSON.stringify(result);
      expect(text).not.toContain("root:");
      expect(text.length).toBeLessThan(2_000);
    }
  });

  it("may say that it has a million rows", async () => {
    const small = write(utils.book_new(utils.aoa_to_sheet([["first"]]), "S"), {
      type: "buffer",
      bookType: "xlsx",
    });
    const parts = unzipSync(new Uint8Array(small));
    const sheet = strFromU8(parts["xl/worksheets/sheet1.xml"] ?? new Uint8Array())
      .replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData>')
      .replace(/<dimension ref="[^"]*"/, '<dimension ref="A1:XFD1048576"');
    const bytes = zipSync({ ...parts, "xl/worksheets/sheet1.xml": strToU8(sheet) });
    const result = await tools.run("read", { filePath: await put("wide.xlsx", bytes) });
    expect(JSON.stringify(result)).toMatch(/1048576 rows|too much memory|longer than/);
  });
});
