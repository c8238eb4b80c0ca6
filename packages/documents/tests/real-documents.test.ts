/**
 * Documents in the structure that Word, PowerPoint, TextEdit and PDF forms write. This file is long because each format
 * has many kinds of text that a reader can lose.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { type DocumentFormat, formatOf } from "../src/document.ts";
import { formatCount } from "../src/docx-numbering.ts";
import { parseDocument } from "../src/parse-document.ts";

const folder = "tests/support/fixtures/documents";

async function parse(format: DocumentFormat, bytes: Uint8Array) {
  const { about, sections } = await parseDocument(format, bytes);
  const text = sections.map(({ title, text }) => (title ? `--- ${title} ---\n${text}` : text));
  return { about, text: text.join("\n") };
}

const fixture = async (name: string) => {
  const bytes = await readFile(join(folder, name));
  return parse(formatOf(bytes, name) ?? "PDF", bytes);
};

describe("a file of real software", () => {
  it.each([
    [
      "numbered-contract.docx",
      "DOCX. Omitted: 1 hidden passage. Tracked changes: 1 insertion, 1 deletion; insertions are shown as accepted, deletions as [deleted: …].",
      `# Recording agreement

## 1. Term
1.1 The term is two years.
1.2 It ends with the last option.

## 2. Royalties
2.1 The artist receives 18 %.
2.2 Subject to clause 1.2 above.
Advance 5,000 EUR.[deleted: Advance 9,000 EUR.]
Visible.
☒ exclusive ☐ non-exclusive
Name:\tMara Vale
Street 1-A
Territory | Rate
Germany / Austria | [18 % | 20 %]

See note[^1]
Text box: signed on 3 May
--- Footnotes ---
[^1] Net of returns.`,
    ],
    [
      "split-sheet-form.pdf",
      "PDF, 1 page.",
      "--- Page 1 ---\nSplit sheet\nWriter: | writer: Mara Vale\nShare in %: | share: 62.5\nExclusive: | exclusive: checked",
    ],
    [
      "japanese-unijis.pdf",
      "PDF, 1 page.",
      "--- Page 1 ---\nContract No. 17\n印税は十八パーセント",
    ],
    [
      "rotated.pdf",
      "PDF, 1 page.",
      "--- Page 1 ---\nTerritory | Streams | Net EUR\nGermany | 120400 | 431.20\nFrance | 98000 | 352.10",
    ],
    ["textedit.rtf", "RTF.", "印税: 18 %.\nMara →Nightjar, łódz pays 250 EUR.\nSecond line"],
    [
      "moved-slides.pptx",
      "PPTX, 2 slides.",
      "--- Slide 1 ---\nOpening\nCampaign plan – Mara’s album\n--- Slide 2 ---\nClosing: next steps",
    ],
  ])("%s is read as it is displayed", async (name, about, text) => {
    expect(await fixture(name)).toEqual({ about, text });
  });
});

const relations = (entries: Readonly<Record<string, string>>) =>
  strToU8(
    `<Relationships>${Object.entries(entries)
      .map(([id, to]) => {
        const [type, target] = to.split(" ");
        return `<Relationship Id="${id}" Type="http://example.com/${type}" Target="${target}"/>`;
      })
      .join("")}</Relationships>`,
  );

function docx(body: string, parts: Readonly<Record<string, string>> = {}): Uint8Array {
  const xml = Object.entries(parts).map(([name, text]) => [
    `word/${name}.xml`,
    strToU8(`<w:${name}>${text}</w:${name}>`),
  ]);
  const related = Object.keys(parts).map((name) => [name, `${name} ${name}.xml`]);
  return zipSync({
    "_rels/.rels": relations({ r: "officeDocument /word/document2.xml" }),
    "word/_rels/document2.xml.rels": relations(Object.fromEntries(related)),
    "word/document2.xml": strToU8(`<w:document><w:body>${body}</w:body></w:document>`),
    ...Object.fromEntries(xml),
  });
}

const run = (text: string, properties = "") =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
const p = (content: string, properties = "") => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const numbered = (list: number, level: number, text: string) =>
  p(run(text), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);
const level = (at: number, format: string, text: string, more = "") =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/>${more}</w:lvl>`;
const field = (type: string, data = "") =>
  `<w:r><w:fldChar w:fldCharType="${type}">${data}</w:fldChar></w:r>`;

describe("a Word document", () => {
  const shown = async (body: string, parts?: Readonly<Record<string, string>>) =>
    parse("DOCX", docx(body, parts));

  it("counts levels, formats, restarts and lists of one definition", async () => {
    const numbering = [
      '<w:abstractNum w:abstractNumId="0">',
      level(0, "upperRoman", "Article %1:"),
      level(1, "decimal", "%1.%2", "<w:isLgl/>"),
      level(2, "lowerLetter", "(%3)"),
      level(3, "lowerRoman", "(%4)", '<w:lvlRestart w:val="0"/>'),
      "</w:abstractNum>",
      `<w:abstractNum w:abstractNumId="1">${level(0, "bullet", "&#xF0B7;")}</w:abstractNum>`,
      '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
      '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>',
      '<w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>',
      '<w:num w:numId="4"><w:abstractNumId w:val="0"/></w:num>',
    ];
    const places: [number, number][] = [
      ...([
        [1, 0],
        [1, 1],
        [1, 2],
        [1, 3],
        [1, 2],
        [1, 3],
        [1, 1],
        [1, 2],
        [3, 0],
        [4, 0],
      ] as [number, number][]),
      ...([
        [2, 0],
        [2, 1],
        [1, 0],
      ] as [number, number][]),
    ];
    const { text } = await shown(
      `${places.map(([list, at]) => numbered(list, at, "x")).join("")}${numbered(0, 0, "x")}`,
      { numbering: numbering.join("") },
    );
    expect(text.split("\n")).toEqual([
      ...["Article I: x", "1.1 x", "(a) x", "(i) x", "(b) x", "(ii) x", "1.2 x", "(a) x", "- x"],
      ...["Article II: x", "Article VII: x", "7.1 x", "Article VIII: x", "x"],
    ]);
  });

  it("counts numbers in formats that are shown in decimal", async () => {
    const words = `<w:abstractNum w:abstractNumId="0">${level(0, "ordinalText", "%1")}</w:abstractNum>`;
    const numbering = `${words}<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`;
    const { text, about } = await shown(numbered(1, 0, "x"), { numbering });
    expect(text).toBe("1 x");
    expect(about).toBe("DOCX. Omitted: 1 list number format.");
  });

  it("takes numbers from styles, and continues them in tables", async () => {
    const styles = [
      '<w:style w:styleId="C1"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>',
      '<w:style w:styleId="C2"><w:basedOn w:val="C1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style>',
      '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>',
    ];
    const numbering = [
      `<w:abstractNum w:abstractNumId="0">${level(0, "decimal", "%1.")}${level(1, "decimal", "%1.%2", '<w:pStyle w:val="C2"/>')}</w:abstractNum>`,
      '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
    ];
    const styled = (style: string) => p(run("x"), `<w:pStyle w:val="${style}"/>`);
    const cell = `<w:tbl><w:tr><w:tc>${styled("C2")}</w:tc><w:tc>${p("")}</w:tc></w:tr></w:tbl>`;
    const body = `${styled("C1")}${styled("C2")}${cell}${styled("C2")}${styled("Loop")}`;
    const { text } = await shown(body, { styles: styles.join(""), numbering: numbering.join("") });
    expect(text.split("\n")).toEqual(["1. x", "1.1 x", "1.2 x |", "", "1.3 x", "x"]);
  });

  it.each([
    [3999, "upperRoman", "MMMCMXCIX"],
    [1e9, "lowerRoman", "1000000000"],
    [28, "lowerLetter", "bb"],
    [1e9, "upperLetter", "1000000000"],
    [7, "decimalZero", "07"],
    [22, "ordinal", "22nd"],
    [21, "ordinalText", "21"],
    [3, "constructor", "3"],
  ])("shows %i in the format %s", (value, format, text) => {
    expect(formatCount(value, format)).toBe(text);
  });

  it("shows fields, check boxes, symbols and lists of forms with their values", async () => {
    const box = (checked: string) =>
      `${field("begin", `<w:ffData><w:checkBox><w:default w:val="0"/>${checked}</w:checkBox></w:ffData>`)}<w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>${field("end")}`;
    const list = `${field("begin", '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="World"/><w:listEntry w:val="Germany"/></w:ddList></w:ffData>')}${field("end")}`;
    const ref = `${field("begin")}<w:r><w:instrText> REF _Ref1 \\r </w:instrText></w:r>${field("begin")}${field("separate")}${run("inner")}${field("end")}${field("separate")}${run("4.2")}${field("end")}`;
    const symbol = '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>';
    const control = `<w:sdt><w:sdtPr/><w:sdtContent>${run("Berlin")}</w:sdtContent></w:sdt>`;
    const { text, about } = await shown(
      p(`${box("<w:checked/>")}${box("")} ${list}`) +
        p(`${run("See ")}${ref}`) +
        p(`${symbol}${run("roy\u00adal<w:x/>")}<w:r><w:softHyphen/></w:r>${control}`) +
        p(
          `${field("begin")}<w:r><w:instrText> LISTNUM </w:instrText></w:r>${field("end")}${run("x")}`,
        ) +
        p(`${field("begin")}${run("code")}`) +
        p(run("after an endless field")),
    );
    expect(text).toBe("☒☐Germany\nSee 4.2\n☑royalBerlin\nx\nafter an endless field");
    expect(about).toBe("DOCX. Omitted: 1 number of a LISTNUM field.");
  });

  it("leaves out hidden text of runs, styles and rows, and joins run-in headings", async () => {
    const styles =
      '<w:style w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId="D"><w:basedOn w:val="H"/></w:style>';
    const { text, about } = await shown(
      p(
        `${run("a", "<w:vanish/>")}${run("b", "<w:vanish/>")}${run("c", '<w:vanish w:val="0"/>')}`,
      ) +
        p(`${run("d", '<w:rStyle w:val="D"/>')}${run("e")}`) +
        p(run("f"), '<w:pStyle w:val="H"/>') +
        p(run("Term."), "<w:rPr><w:vanish/><w:specVanish/></w:rPr>") +
        p(run("Two years.")) +
        `<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc>${p(run("g"))}</w:tc></w:tr></w:tbl>`,
      { styles },
    );
    expect(text).toBe("c\ne\nTerm. Two years.");
    expect(about).toBe("DOCX. Omitted: 3 hidden passages, 1 hidden row.");
  });

  it("names headers, notes, comments, changes, images and embedded documents", async () => {
    const drawing = `<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>${p(run("boxed"))}</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:txbxContent>${p(run("boxed"))}</w:txbxContent></mc:Fallback></mc:AlternateContent><w:drawing><a:blip/></w:drawing></w:r>`;
    const gone = '<w:rPr><w:del w:id="1"/></w:rPr>';
    const { text, about } = await shown(
      p(
        `${run("one")}${drawing}<w:r><w:commentReference w:id="5"/><w:endnoteReference w:id="3"/></w:r>`,
      ) +
        p(run("two "), gone) +
        p(
          `${run("three")}<w:moveFrom>${run("moved")}</w:moveFrom><w:moveTo>${run("!")}</w:moveTo>`,
        ) +
        '<w:altChunk r:id="x"/>',
      {
        header: p(run("Draft 3")),
        comments: `<w:comment w:id="5" w:author="Ida">${p(run("too low"))}</w:comment>`,
        endnotes: `<w:endnote w:id="3">${p(run("end"))}</w:endnote>`,
      },
    );
    expect(text).toBe(
      "one[comment 1][^e1]\nboxed\ntwo three!\n--- Headers and footers ---\nDraft 3\n--- Endnotes ---\n[^e1] end\n--- Comments ---\n[comment 1] Ida: too low",
    );
    expect(about).toContain("Omitted: 1 image, 1 embedded document.");
    expect(about).toContain("Tracked changes: 1 move;");
  });

  it("of a million paragraphs, of deep tables and of hostile names ends", async () => {
    const many = await shown(p(run("x")).repeat(200_000));
    expect(many.text.length).toBe(399_999);
    const deep = `${"<w:tbl><w:tr><w:tc>".repeat(50_000)}`;
    await expect(shown(deep)).rejects.toThrow("is nested too deeply");
    const hostile = await shown(p("<w:constructor/><w:__proto__/>") + p(run("&lol; &#8211;")));
    expect(hostile.about).toBe("DOCX.");
    expect(hostile.text).toContain("&lol; –");
  });
});

describe("a presentation", () => {
  const pptx = (slides: readonly string[]) =>
    zipSync({
      "ppt/presentation.xml": strToU8(
        `<p:presentation><p:sldIdLst>${slides.map((_, n) => `<p:sldId id="${n}" r:id="s${n}"/>`).join("")}</p:sldIdLst></p:presentation>`,
      ),
      "ppt/_rels/presentation.xml.rels": relations(
        Object.fromEntries(slides.map((_, n) => [`s${n}`, `slide slides/slide${n}.xml`])),
      ),
      "ppt/slides/_rels/slide0.xml.rels": relations({
        n: "notesSlide ../notesSlides/n.xml",
        c: "comments ../comments/c.xml",
      }),
      "ppt/notesSlides/n.xml": strToU8(
        `<p:notes><p:sp><p:nvSpPr><p:cNvPr/><p:nvPr><p:ph type="sldNum"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:t>7</a:t></a:p></p:txBody></p:sp>${shape("Say hello")}</p:notes>`,
      ),
      "ppt/comments/c.xml": strToU8("<p:cmLst><p:cm><p:text>Cut this</p:text></p:cm></p:cmLst>"),
      ...Object.fromEntries(slides.map((xml, n) => [`ppt/slides/slide${n}.xml`, strToU8(xml)])),
    });
  const text = (value: string, properties = "") =>
    `<a:p><a:pPr ${properties.startsWith("lvl") ? properties.split(" ")[0] : ""}>${properties.replace(/^lvl\S+ /, "")}</a:pPr><a:r><a:t>${value}</a:t></a:r></a:p>`;
  const shape = (value: string, attributes = "") =>
    `<p:sp><p:nvSpPr><p:cNvPr ${attributes}/></p:nvSpPr><p:txBody>${text(value)}</p:txBody></p:sp>`;

  it("has notes, comments, groups, tables and hidden slides, and counts numbers of lines", async () => {
    const cell = (value: string) => `<a:tc><a:txBody>${text(value)}</a:txBody></a:tc>`;
    const table = `<p:graphicFrame><a:tbl><a:tr>${cell("Germany")}${cell("18 %")}</a:tr></a:tbl></p:graphicFrame>`;
    const numbers = (type: string) => `<a:buAutoNum type="${type}"/>`;
    const list = `<p:sp><p:txBody>${text("a", numbers("arabicPeriod"))}${text("b", `lvl="1" ${numbers("alphaLcParenBoth")}`)}${text("c", numbers("arabicPeriod"))}</p:txBody></p:sp>`;
    const { about, text: shown } = await parse(
      "PPTX",
      pptx([
        `<p:sld><p:grpSp><p:nvGrpSpPr/>${shape("&lt;Grouped&gt;")}</p:grpSp>${shape("Gone", 'hidden="1"')}${table}<p:pic/></p:sld>`,
        `<p:sld show="0">${list}</p:sld>`,
      ]),
    );
    expect(shown).toBe(
      "--- Slide 1 ---\n<Grouped>\nGermany | 18 %\nNotes: Say hello\nComment: Cut this\n--- Slide 2 (hidden) ---\na\nb\nc",
    );
    expect(about).toBe("PPTX, 2 slides. Omitted: 1 hidden shape, 1 image, 3 list numbers.");
  });
});

describe("RTF", () => {
  const rtf = (text: string) => parse("RTF", Buffer.from(`{\\rtf1\\ansi\n${text}}`, "latin1"));
  it.each([
    ["\\ansicpg1251 \\'cf\\'f0", "Пр"],
    [
      "\\ansicpg1252{\\fonttbl{\\f0\\fcharset238 Arial;}{\\f1\\fcharset128 MS;}}\\f0 W\\'b3o\\f1 \\'93\\'fa",
      "Wło日",
    ],
    ["\\uc2\\u26085 ??x{\\uc0\\u26412 y}\\u-3913 ab.", "日x本y\uf0b7."],
    ["\\u55357?\\u56832?", "😀"],
    ["\\mac\\'8e", "é"],
    ["{\\fonttbl{\\f3\\fcharset2 Wingdings;}}{\\f3\\'fe} yes", "☑ yes"],
    ["a\\line b\\par c\\~d\\_e\\-f\\emdash g\\\\h\\{i\\}", "a\nb\nc\u00a0d-ef—g\\h{i}"],
    ["{\\pict\\bin5 }}}}}}a{\\*\\unknown b}c", "ac"],
    ["\\trowd\\intbl a\\par b\\cell c\\cell\\row\\pard d", "a / b | c\nd"],
    ["{\\field{\\*\\fldinst REF x}{\\fldrslt 4.2}} end", "4.2 end"],
    ["{\\listtext 1.1\\tab}Term{\\footnote note\\par more}.", "1.1\tTerm [footnote: note / more]."],
    ["\\constructor\\__proto__ x", "x"],
  ])("%s is %s", async (text, shown) => {
    expect((await rtf(text)).text).toContain(shown);
  });

  it("names hidden and deleted text, images and margins", async () => {
    expect(
      await rtf(
        "{\\header Page\\par}a{\\v secret}{\\deleted old}b{\\*\\shppict{\\pict 00}}{\\pict 00}",
      ),
    ).toEqual({
      about:
        "RTF. Omitted: 1 hidden passage, 1 image. Tracked changes: 1 deletion, shown as [deleted: …].",
      text: "a[deleted: old]b\n--- Headers and footers ---\nPage",
    });
  });

  it("of a million groups ends", async () => {
    await expect(rtf("{".repeat(1_000_000))).rejects.toThrow("is nested too deeply");
    expect((await rtf("\\par x".repeat(300_000))).text.length).toBe(600_000 - 1);
  });
});

describe("a PDF document", () => {
  const pdf = (annotations: readonly string[], content: string, more = "") => {
    const objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] ${more} /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> /Annots [${annotations.join(" ")}] >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ];
    const body = objects.map((object, n) => `${n + 1} 0 obj\n${object}\nendobj\n`).join("");
    return parse("PDF", strToU8(`%PDF-1.7\n${body}trailer\n<< /Size 6 /Root 1 0 R >>\n%%EOF`));
  };
  const line = (text: string, y: number) => `BT /F1 12 Tf 1 0 0 1 20 ${y} Tm (${text}) Tj ET`;

  it("shows notes, typed text, choices and empty fields, and counts hidden ones and marks", async () => {
    const widget = (name: string, y: number, more: string) =>
      `<< /Subtype /Widget /T (${name}) /Rect [100 ${y} 300 ${y + 20}] ${more} >>`;
    const { about, text } = await pdf(
      [
        widget(
          "territory",
          215,
          "/FT /Ch /Ff 131072 /V (DE) /Opt [[(DE) (Germany)] [(FR) (France)]]",
        ),
        widget("share", 185, "/FT /Tx"),
        widget("trap", 150, "/FT /Tx /V (x) /F 2"),
        "<< /Subtype /FreeText /Rect [100 100 200 120] /Contents (typed) /DA (/F1 10 Tf) >>",
        "<< /Subtype /Text /Rect [10 10 20 20] /T (Ida) /Contents (too low) >>",
        "<< /Subtype /StrikeOut /Rect [10 10 20 20] /QuadPoints [10 20 20 20 10 10 20 10] >>",
      ],
      [line("Territory", 220), line("Share", 190), line("Date", 105)].join("\n"),
    );
    expect(text).toBe(
      "--- Page 1 ---\nTerritory | territory: Germany\nShare | share: (empty)\nDate | typed\n[Text note by Ida: too low]",
    );
    expect(about).toBe("PDF, 1 page. Omitted: 1 StrikeOut annotation, 1 hidden form field.");
  });

  it.each([
    ["upright text on a turned page", "0 -1 1 0", "/Rotate 270"],
    ["sideways text on an upright page", "0 1 -1 0", ""],
    ["text upside down", "-1 0 0 -1", "/Rotate 180"],
  ])("has the rows of %s", async (_, matrix, rotate) => {
    const [a = 0, b = 0, c = 0, d = 0] = matrix.split(" ").map(Number);
    const cell = (text: string, x: number, y: number) =>
      `BT /F1 10 Tf ${matrix} ${200 + a * x + c * y} ${150 + b * x + d * y} Tm (${text}) Tj ET`;
    const { text } = await pdf(
      [],
      [cell("A", -80, 20), cell("B", 40, 20), cell("C", -80, 0), cell("D", 40, 0)].join("\n"),
      rotate,
    );
    expect(text).toBe("--- Page 1 ---\nA | B\nC | D");
  });
});
