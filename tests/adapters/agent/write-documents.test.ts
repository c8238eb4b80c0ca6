/** Documents that the tool `write` writes, read by the tool `read` and by LibreOffice. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseDocument } from "@/packages/documents/src/parse-document.ts";
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

const contract = `# Recording Agreement – “Łódź”

Between **Nightjar Records GmbH** and *Mara Vale*, for €1,000 &amp; \`QZ1AB2600001\`, see
[the terms](https://example.com/terms_(1)?a=1&b=2) and [this](javascript:alert(1)).

1. Audit
   - once a year
2. [x] Signed

> No other terms.

---

| Territory | Rate |
|:--|--:|
| Germany | 18.5 % |
| Rest of the world<br>and space | ~~15~~ 12 % |

\`\`\`
a < b
\`\`\`

![Cover](https://tracker.example/pixel.png)
`;

const statement = 'Date,UPC,Note\n2026-01-31,0123456789012,"=HYPERLINK(""http://x"")"\n';

describe("a contract in Markdown", () => {
  it("becomes a Word document", async () => {
    expect(await write("deals/contract.docx", contract)).toEqual({
      filePath: "deals/contract.docx",
      bytes: expect.any(Number),
      format: "DOCX",
    });
    expect(await textOf("deals/contract.docx")).toBe(`DOCX.

# Recording Agreement – “Łódź”
Between Nightjar Records GmbH and Mara Vale, for €1,000 & QZ1AB2600001, see the terms and this.
1. Audit
  - once a year
2. ☑ Signed
No other terms.
Territory | Rate
Germany | 18.5 %
Rest of the world / and space | 15 12 %

a < b
Cover
`);
    const parts = unzipSync(await tools.sandbox.readFile("deals/contract.docx"));
    const links = strFromU8(parts["word/_rels/document.xml.rels"] ?? new Uint8Array());
    expect(links.match(/Target="[^"]*:[^"]*"/g)).toEqual([
      'Target="https://example.com/terms_(1)?a=1&amp;b=2"',
    ]);
  });

  it("becomes a PDF document with numbered pages", async () => {
    const long = `${contract}\n${"A paragraph of the contract. ".repeat(40)}\n\n`.repeat(5);
    expect(await write("contract.pdf", long)).toMatchObject({ format: "PDF", pages: 4 });
    const text = await textOf("contract.pdf");
    expect(text).toMatch(`PDF, 4 pages.

--- Page 1 ---
Recording Agreement – “Łódź”
Between Nightjar Records GmbH and Mara Vale, for €1,000 & QZ1AB2600001, see the terms and
this.
1. Audit
◦ once a year
2. ☑ Signed
No other terms.
Territory | Rate
Germany | 18.5 %
Rest of the world
and space
15 12 %
a < b
Cover
A paragraph of the contract.`);
    expect(text).toContain("\n2 / 4\n");
    const file = Buffer.from(await tools.sandbox.readFile("contract.pdf")).toString("latin1");
    expect(new Set(file.match(/\/URI \(.*\)$/gm))).toEqual(
      new Set(["/URI (https://example.com/terms_\\(1\\)?a=1&b=2)"]),
    );
  });

  it("repeats the header of a table on each page, and splits a row that is higher than a page", async () => {
    const rows = Array.from({ length: 60 }, (_, n) => `| Row ${n} | ${n} |`).join("\n");
    const high = `| ${"word<br>".repeat(150)} | end |`;
    await write("table.pdf", `| Track | Units |\n|---|---|\n${rows}\n${high}`);
    const text = await textOf("table.pdf");
    const pages = text.split(/--- Page \d+ ---\n/).slice(1);
    for (const page of pages) expect(page).toMatch(/^Track \| Units\n/);
    for (const n of Array.from({ length: 60 }).keys()) expect(text).toContain(`Row ${n} | ${n}\n`);
    expect(text.match(/^word\b/gm)).toHaveLength(150);
  });

  it("keeps every script as a Word document, and names the first letter that PDF lacks", async () => {
    const scripts = "日本語, العربية, ไทย, Ελληνικά, Українська 🎵";
    await write("scripts.docx", scripts);
    expect(await textOf("scripts.docx")).toBe(`DOCX.\n\n${scripts}\n`);
    await write("scripts.pdf", "Ελληνικά, Українська, Türkçe, Čeština ✓ →");
    expect(await textOf("scripts.pdf")).toContain("Ελληνικά, Українська, Türkçe, Čeština ✓ →");
    for (const [text, named] of [
      ["Title 日本", "“日” (U+65E5)"],
      ["العربية", "“ا” (U+0627)"],
    ] as const) {
      expect(await write("scripts.pdf", text)).toEqual({
        error: `scripts.pdf cannot show ${named} as PDF: write it as .docx, or leave this character out`,
      });
    }
  });
});

describe("a hostile text", () => {
  const table = (columns: number, rows: number) =>
    `${"| a ".repeat(columns)}|\n${"|---".repeat(columns)}|\n${`${"| b ".repeat(columns)}|\n`.repeat(rows)}`;
  const deepList = Array.from({ length: 12 }, (_, n) => `${"  ".repeat(n)}- x`).join("\n");
  it.each<[string, string, string, string]>([
    ["quotes in quotes", "a.docx", `${"> ".repeat(20_000)}x`, "is nested too deeply"],
    ["lists in lists", "a.pdf", deepList, "is nested too deeply: use at most 9 levels"],
    ["a million items", "a.pdf", "- x\n".repeat(1_000_000), "has more than 1000000 characters"],
    ["many lines", "a.docx", "\n".repeat(60_000), "or 50000 lines of Markdown: split it"],
    ["a long table", "a.pdf", table(2, 49_000), "has more than 1000 pages: split it"],
    ["a wide table", "a.docx", table(21, 1), "has a table of 21 columns, and a page at most 20"],
    ["a wide sheet", "a.xlsx", ",".repeat(20_000), "has more than 200000 rows"],
    ["many rows", "a.xlsx", "1\n".repeat(200_001), "has more than 200000 rows"],
    ["a long cell", "a.xlsx", "x".repeat(32_768), "has a cell of more than 32767 characters"],
    ["an open quote", "a.xlsx", 'a,"b\nc', "is no CSV: Quote Not Closed"],
  ])("%s is one clear error", async (_, name, content, error) => {
    expect(await write(name, content)).toEqual({ error: expect.stringContaining(error) });
  });

  it("of one endless word has lines and pages", async () => {
    const word = "x".repeat(100_000);
    expect(await write("word.pdf", `${word}\n\n| a |\n|---|\n| ${word} |`)).toMatchObject({
      format: "PDF",
    });
    expect(await write("word.docx", word)).toMatchObject({ format: "DOCX" });
  });

  it("has no control characters or halves of characters", async () => {
    const text = "a\u0000b\u0001c\ud800d\ufffee";
    await write("control.docx", text);
    expect(await textOf("control.docx")).toBe("DOCX.\n\nabc�de\n");
    expect(await write("empty.docx", "")).toMatchObject({ format: "DOCX" });
    expect(await write("empty.pdf", "")).toMatchObject({ pages: 1 });
    expect(await write("empty.xlsx", "")).toMatchObject({ rows: 0, columns: 0 });
  });
});

const hasOffice = spawnSync("soffice", ["--version"]).status === 0;

it.skipIf(!hasOffice)("LibreOffice opens all three", { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "written-"));
  try {
    const names = ["contract.docx", "statement.xlsx", "terms.pdf"];
    for (const name of names) {
      await write(name, name === "statement.xlsx" ? statement : contract);
      await writeFile(join(folder, name), await tools.sandbox.readFile(name));
    }
    const profile = `-env:UserInstallation=file://${join(folder, "profile")}`;
    const out = join(folder, "out");
    const options = ["--headless", "--convert-to", "pdf", "--outdir", out];
    const paths = names.map((name) => join(folder, name));
    await promisify(execFile)("soffice", [profile, ...options, ...paths]);
    const textIn = async (name: string) => {
      const { sections } = await parseDocument("PDF", await readFile(join(out, name)));
      return sections.map(({ text }) => text).join("\n");
    };
    expect(await textIn("contract.pdf")).toMatch(/Łódź[\s\S]*1\. +Audit[\s\S]*18\.5 %/);
    expect(await textIn("terms.pdf")).toMatch(/Łódź[\s\S]*1\. Audit[\s\S]*18\.5 %/);
    const sheet = await textIn("statement.pdf");
    expect(sheet).toContain("0123456789012");
    expect(sheet).toContain("2026-01-31");
    expect(sheet).toContain("=HYPERLINK");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
