/** Workbooks that the tool `write` writes. */
import fc from "fast-check";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { columnTypeOf } from "@/packages/documents/src/column-type.ts";
import { parseSpreadsheet } from "@/packages/documents/src/parse-spreadsheet.ts";
import { writeSpreadsheet } from "@/packages/documents/src/write-spreadsheet.ts";
import { createToolFixture } from "../../support/fixtures/agent-tools.ts";

let tools: Awaited<ReturnType<typeof createToolFixture>>;
beforeAll(async () => {
  tools = await createToolFixture();
});
afterAll(async () => {
  expect(tools.faults).toEqual([]);
  await tools.remove();
});

const write = (filePath: string, content: string) => tools.run("write", { filePath, content });
const textOf = async (filePath: string) =>
  ((await tools.run("read", { filePath })) as { content: string }).content;

const statement = [
  "Store,Date,UPC,ISRC,Units,Net,Rate,Note",
  'Spotify,2026-01-31,0123456789012,QZ1AB2600001,1204,"1,234.50 €",18 %,"=HYPERLINK(""http://x"")"',
  '"Apple, Music",2026-02-28,0600000000005,QZ1AB2600002,-3,-0.50 €,7.5 %,+49 30',
  ",,,,,,,@SUM(A1)",
  "Tidal,2026-03-31,0123456789029,TRUE,7,12.00 €,0 %,2026-02-30",
].join("\n");

describe("a statement as CSV", () => {
  it("becomes a spreadsheet that keeps ids and has no formulas", async () => {
    expect(await write("Q1.XLSX", statement)).toMatchObject({
      format: "XLSX",
      rows: 5,
      columns: 8,
      formulas: { computed: 0, without_value: 0, as_text: 1 },
    });
    expect(await textOf("Q1.XLSX")).toContain(
      'Spotify,2026-01-31,0123456789012,QZ1AB2600001,1204,1234.5,0.18,"=HYPERLINK(""http://x"")"',
    );
    const sheet = await sheetIn("Q1.XLSX");
    expect(sheet).not.toContain("<f");
    const numbers = [...sheet.matchAll(/<c r="(\w+)"(?: s="\d+")?><v>(.*?)</g)];
    expect(numbers.map(([, cell, value]) => `${cell}=${value}`).join(" ")).toBe(
      "B2=46053 E2=1204 F2=1234.5 G2=0.18 B3=46081 E3=-3 F3=-0.5 G3=0.075 B5=46112 E5=7 F5=12 G5=0",
    );
    expect(sheet).toContain(
      '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>',
    );
    const styles = await partIn("Q1.XLSX", "xl/styles.xml");
    expect(styles).toMatch(/numFmtId="49" fontId="1" [^>]*applyFont="1"/);
    expect(styles).toMatch(/<fonts count="2"><font>.*<\/font><font><b\/>/);
    for (const format of ["#,##0.00\\ &quot;€&quot;", "0.0\\ %", "yyyy-mm-dd"]) {
      expect(styles).toContain(`formatCode="${format}"`);
    }
  });

  it.each<[string, string[], string | undefined, number[]?]>([
    ["money in front", ["$12.00", "-$1,000.5"], '"$"#,##0.00', [12, -1000.5]],
    ["money by its code", ["EUR 12.00", "EUR 0.10"], '"EUR"\\ #,##0.00', [12, 0.1]],
    ["money with decimal commas", ["1.234,50 €", "12 €"], '#,##0.00\\ "€"', [1234.5, 12]],
    ["numbers of one length", ["12.50", "3.00"], "0.00", [12.5, 3]],
    ["numbers of several lengths", ["12.5", "0.125"], undefined, [12.5, 0.125]],
    ["thousands", ["1,234,567", "12"], "#,##0", [1234567, 12]],
    ["thousands that may be decimals", ["1,234 €", "2,500 €"], "text"],
    ["two currencies", ["1 €", "$1"], "text"],
    ["one text", ["1", "n/a"], "text"],
    ["a UPC", ["123456789012"], "text"],
    ["zeros in front", ["007", "12"], "text"],
    ["a phone number", ["+49 30 1234"], "text"],
    ["more digits than a number keeps", ["0.1234567890123456"], "text"],
    ["a minus without a number", ["-0.0"], "text"],
    ["no day of the calendar", ["2026-02-30", "2026-01-01"], "text"],
  ])("%s are a column of one type, or texts", (_, texts, format, values) => {
    const type = columnTypeOf(texts, "Net");
    expect(type ? type.format : "text").toBe(format);
    expect(type ? texts.map(type.toNumber) : undefined).toEqual(values);
    expect(columnTypeOf(texts, "Track ID")).toBeNull();
  });

  it("is read back as it was written, whatever its texts are", () => {
    const cell = fc.oneof(
      fc.string({ unit: "grapheme" }).filter((text) => !/[\p{Cc}\ufffe\uffff]/u.test(text)),
      fc.stringMatching(/^[=+@-]?[\d.,eE"' \n-]{0,20}$/),
      fc.stringMatching(/^0{0,2}\d{10,16}$/),
      fc.constantFrom("_x0041_", "&amp;", "<b>", "TRUE", "#N/A", "\t", " x ", "=1+1"),
    );
    const kinds = [cell, fc.integer().map(String), fc.stringMatching(/^20\d\d-[01]\d-[0-3]\d$/)];
    const row = fc.tuple(...kinds, ...kinds);
    fc.assert(
      // The first column has texts in the first two rows, so the property holds for texts that look like amounts.
      fc.property(fc.array(row, { maxLength: 5 }), (table) => {
        const lines = [["a", "b", "c", "d", "e", "f"], ["x", "", "", "x", "", "x"], ...table];
        const csv = lines.map((line) => `${[...line, "end"].map(toField).join(",")}\n`).join("");
        const { bytes } = writeSpreadsheet([{ name: "S", csv, hasFormulas: false }]);
        expect(parseSpreadsheet("XLSX", bytes).sheets[0]?.csv).toBe(csv);
      }),
      { numRuns: process.env.SOAK === "1" ? 1_000 : 30 },
    );
  });
});

const partIn = async (path: string, part: string) =>
  strFromU8(unzipSync(await tools.sandbox.readFile(path))[part] ?? new Uint8Array());
const sheetIn = (path: string, number = 1) => partIn(path, `xl/worksheets/sheet${number}.xml`);

describe("sheets", () => {
  it("have formulas with their values, and rows of files without formulas", async () => {
    await tools.sandbox.writeFile("rows.csv", "Store,Net\nSpotify,100.25\nTidal,250.5\n");
    await tools.sandbox.writeFile("notes.csv", "Note\n=1+1\n");
    const csv = [
      "Line,Amount",
      "Gross,=SUM(Rows!B:B)",
      'Share,"=ROUND(B2*18%,2)"',
      "Mean,=AVERAGE('rows'!$B$2:B3)",
      'Most,"=MAX(Rows!B2:B3,MIN(1,2))-COUNT(Rows!A1:B9)/-2"',
      "Loop,=B7",
      "Loop,=B6+1",
      'Lookup,"=VLOOKUP(""Tidal"",Rows!A:B,2,FALSE)"',
      "Zero,=B2/0",
      "Text,=A2+1",
      "External,='[other.xlsx]Rows'!B2",
      'Web,"=WEBSERVICE(""http://x"")"',
      "Command,=cmd|'/c calc'!A0",
    ].join("\n");
    const sheets = [
      { name: "Rows", path: "rows.csv" },
      { name: "Notes", path: "/home/agent/notes.csv" },
      { name: "Summary", csv },
    ];
    expect(await tools.run("write", { filePath: "book.xlsx", sheets })).toMatchObject({
      sheets: [
        { name: "Rows", rows: 3, columns: 2 },
        { name: "Notes", rows: 2, columns: 1 },
        { name: "Summary", rows: 13, columns: 2 },
      ],
      formulas: { computed: 4, without_value: 5, as_text: 3 },
    });
    expect((await textOf("book.xlsx")).replaceAll(" (no stored value)", " ?")).toContain(`
Line,Amount
Gross,350.75
Share,63.14
Mean,175.375
Most,251.5
Loop,=B7 ?
Loop,=B6+1 ?
Lookup,"=VLOOKUP(""Tidal"",Rows!A:B,2,FALSE) ?"
Zero,=B2/0 ?
Text,=A2+1 ?
External,='[other.xlsx]Rows'!B2
Web,"=WEBSERVICE(""http://x"")"
Command,=cmd|'/c calc'!A0
`);
    expect(await sheetIn("book.xlsx", 2)).not.toContain("<f");
    expect(await sheetIn("book.xlsx", 3)).toContain("<f>SUM(Rows!B:B)</f><v>350.75</v>");
  });

  const csv = "a\n1\n";
  it.each<[string, object, string]>([
    [
      "content and sheets",
      { content: "", sheets: [{ name: "A", csv }] },
      "either content or sheets",
    ],
    ["csv and path", { sheets: [{ name: "A", csv, path: "rows.csv" }] }, "either csv or path"],
    ["a name of 32 characters", { sheets: [{ name: "x".repeat(32), csv }] }, "1 to 31 characters"],
    ["a name with a colon", { sheets: [{ name: "A:B", csv }] }, "1 to 31 characters"],
    [
      "names that differ in case",
      {
        sheets: [
          { name: "a", csv },
          { name: "A", csv },
        ],
      },
      '"A" is there twice',
    ],
    ["a missing file", { sheets: [{ name: "A", path: "none.csv" }] }, "No such file"],
    [
      "a sum of texts",
      { content: "Net\n100\nn/a\n=SUM(A2:A3)" },
      "has a formula over sheets!A2, which is text",
    ],
  ])("are refused for %s", async (_, input, error) => {
    const result = await tools.run("write", { filePath: "sheets.xlsx", ...input });
    expect(result).toEqual({ error: expect.stringContaining(error) });
  });

  it("have formulas that end, whatever they need", () => {
    const countsOf = (formulas: readonly string[]) => {
      const csv = formulas.map((formula) => `1,${toField(formula)}\n`).join("");
      return writeSpreadsheet([{ name: "S", csv, hasFormulas: true }]).formulas;
    };
    const chain = Array.from({ length: 5_000 }, (_, n) => `=B${n + 2}+1`);
    expect(countsOf(chain)).toMatchObject({ as_text: 0 });
    const sums = Array.from({ length: 10_000 }, () => "=SUM(A$1:A$10000)");
    expect(countsOf(sums)).toMatchObject({ computed: 2_000, without_value: 8_000 });
    const nested = `=${"(".repeat(4_000)}1${")".repeat(4_000)}`;
    const quotes = `=${'"'.repeat(8_001)}`;
    expect(countsOf([nested, quotes, `=1${" ".repeat(8_000)}x`])).toMatchObject({ as_text: 3 });
    expect(countsOf([`=1${"+1".repeat(1_000)}`])).toMatchObject({ computed: 1 });
  });
});

const toField = (text: string): string =>
  /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
