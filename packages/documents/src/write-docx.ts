/** Writes the blocks of Markdown as a Word document: the few parts of Office Open XML that they need. */
import { strToU8, zipSync } from "fflate";
import { type Block, type Paragraph, type Run, type Table, textOf } from "./markdown.ts";

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml";
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

/** In twentieths of a point: A4 with margins of an inch. */
const TEXT_WIDTH = 11_906 - 2 * 1_440;
const INDENT = 400;
const RIGHT_TO_LEFT =
  /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Half points, for headings of the levels 1 to 6. */
const HEADING_SIZES = [36, 30, 26, 24, 22, 22];

export function writeDocx(blocks: readonly Block[]): Uint8Array {
  const links = new Map<string, string>();
  const body = blocks.map((block) => xmlOfBlock(block, links)).join("");
  const parts = {
    "[Content_Types].xml": `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="${WORD}.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="${WORD}.styles+xml"/><Override PartName="/word/numbering.xml" ContentType="${WORD}.numbering+xml"/></Types>`,
    "_rels/.rels": relationships([["r1", "officeDocument", "word/document.xml"]]),
    "word/_rels/document.xml.rels": relationships([
      ["styles", "styles", "styles.xml"],
      ["numbering", "numbering", "numbering.xml"],
      ...[...links].map(([href, id]) => [id, "hyperlink", href] as const),
    ]),
    "word/document.xml": `<w:document ${W} xmlns:r="${R}"><w:body>${body}<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr></w:body></w:document>`,
    "word/styles.xml": styles(),
    "word/numbering.xml": numbering(blocks),
  };
  const files = Object.entries(parts).map(([name, xml]) => [name, strToU8(HEAD + xml)]);
  return zipSync(Object.fromEntries(files));
}

const relationships = (list: readonly (readonly [id: string, type: string, target: string])[]) =>
  `<Relationships xmlns="${PACKAGE}/relationships">${list
    .map(([id, type, target]) => {
      const mode = type === "hyperlink" ? ' TargetMode="External"' : "";
      return `<Relationship Id="${id}" Type="${R}/${type}" Target="${escapeXml(target)}"${mode}/>`;
    })
    .join("")}</Relationships>`;

function xmlOfBlock(block: Block, links: Map<string, string>): string {
  if (block.kind === "table") return xmlOfTable(block, links);
  if (block.kind === "rule") {
    return `<w:p><w:pPr><w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" w:color="A0A0A0"/></w:pBdr></w:pPr></w:p>`;
  }
  return xmlOfParagraph(block, links);
}

/** Word insists on the order of the properties in the schema. */
function xmlOfParagraph(paragraph: Paragraph, links: Map<string, string>): string {
  const { heading, isCode, mark, indent, quotes, runs } = paragraph;
  const style = heading ? `Heading${heading}` : isCode ? "Code" : quotes > 0 ? "Quote" : "";
  const left = (indent + quotes) * INDENT;
  const isRightToLeft = RIGHT_TO_LEFT.test(textOf(runs));
  const properties = [
    style && `<w:pStyle w:val="${style}"/>`,
    mark && `<w:numPr><w:ilvl w:val="${indent - 1}"/><w:numId w:val="${mark.list}"/></w:numPr>`,
    isRightToLeft && "<w:bidi/>",
    left > 0 && `<w:ind w:left="${left}"${mark ? ` w:hanging="${INDENT - 40}"` : ""}/>`,
  ];
  const content = xmlOfRuns(runs, links, isRightToLeft);
  return `<w:p><w:pPr>${properties.filter(Boolean).join("")}</w:pPr>${content}</w:p>`;
}

function xmlOfRuns(
  runs: readonly Run[],
  links: Map<string, string>,
  isRightToLeft = false,
): string {
  return runs
    .map(({ text, bold, italic, strike, code, href }) => {
      const properties = [
        href ? '<w:rStyle w:val="Hyperlink"/>' : code && '<w:rStyle w:val="CodeText"/>',
        bold && "<w:b/><w:bCs/>",
        italic && "<w:i/><w:iCs/>",
        strike && "<w:strike/>",
        isRightToLeft && "<w:rtl/>",
      ];
      const lines = text
        .split("\n")
        .map((line) => `<w:t xml:space="preserve">${escapeXml(line)}</w:t>`);
      const run = `<w:r><w:rPr>${properties.filter(Boolean).join("")}</w:rPr>${lines.join("<w:br/>")}</w:r>`;
      if (!href) return run;
      const id = links.get(href) ?? `link${links.size + 1}`;
      links.set(href, id);
      return `<w:hyperlink r:id="${id}">${run}</w:hyperlink>`;
    })
    .join("");
}

function xmlOfTable({ columns, rows, indent, quotes }: Table, links: Map<string, string>): string {
  const left = (indent + quotes) * INDENT;
  const weights = columns.map((_, column) => {
    const lengths = rows.map((row) => textOf(row[column] ?? []).length);
    return lengths.reduce((most, length) => Math.max(most, Math.min(length, 40)), 6);
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const widths = weights.map((weight) => Math.floor(((TEXT_WIDTH - left) * weight) / sum));
  const xmlOfRow = (row: Table["rows"][number], place: number) => {
    const cells = columns.map((side, column) => {
      const content = xmlOfRuns(row[column] ?? [], links);
      const align = side === "left" ? "" : `<w:jc w:val="${side}"/>`;
      return `<w:tc><w:tcPr><w:tcW w:w="${widths[column]}" w:type="dxa"/></w:tcPr><w:p><w:pPr><w:spacing w:before="40" w:after="40"/>${align}</w:pPr>${content}</w:p></w:tc>`;
    });
    return `<w:tr>${place === 0 ? "<w:trPr><w:tblHeader/></w:trPr>" : ""}${cells.join("")}</w:tr>`;
  };
  const grid = widths.map((width) => `<w:gridCol w:w="${width}"/>`).join("");
  const properties = `<w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/><w:tblInd w:w="${left}" w:type="dxa"/>`;
  // Without a paragraph between them, Word would join two tables.
  return `<w:tbl><w:tblPr>${properties}</w:tblPr><w:tblGrid>${grid}</w:tblGrid>${rows.map(xmlOfRow).join("")}</w:tbl><w:p/>`;
}

function styles(): string {
  const style = (id: string, name: string, inner: string, type = "paragraph") =>
    `<w:style w:type="${type}" w:styleId="${id}"><w:name w:val="${name}"/>${id === "Normal" || type !== "paragraph" ? "" : '<w:basedOn w:val="Normal"/>'}${inner}</w:style>`;
  const mono = '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Courier New"/>';
  const headings = HEADING_SIZES.map((size, place) =>
    style(
      `Heading${place + 1}`,
      `heading ${place + 1}`,
      `<w:next w:val="Normal"/><w:pPr><w:keepNext/><w:spacing w:before="280" w:after="100"/><w:outlineLvl w:val="${place}"/></w:pPr><w:rPr><w:b/><w:bCs/><w:sz w:val="${size}"/><w:szCs w:val="${size}"/></w:rPr>`,
    ),
  );
  const border = (side: string) =>
    `<w:${side} w:val="single" w:sz="4" w:space="0" w:color="A0A0A0"/>`;
  const sides = ["top", "left", "bottom", "right", "insideH", "insideV"].map(border).join("");
  const all = [
    `<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Arial"/><w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>`,
    `<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:style>`,
    ...headings,
    style(
      "Quote",
      "Quote",
      `<w:pPr><w:pBdr><w:left w:val="single" w:sz="18" w:space="8" w:color="C0C0C0"/></w:pBdr></w:pPr><w:rPr><w:color w:val="505050"/></w:rPr>`,
    ),
    style(
      "Code",
      "Code",
      `<w:pPr><w:shd w:val="clear" w:color="auto" w:fill="F2F2F2"/></w:pPr><w:rPr>${mono}<w:sz w:val="19"/></w:rPr>`,
    ),
    style("CodeText", "Code Text", `<w:rPr>${mono}</w:rPr>`, "character"),
    style(
      "Hyperlink",
      "Hyperlink",
      `<w:rPr><w:color w:val="0B57B0"/><w:u w:val="single"/></w:rPr>`,
      "character",
    ),
    style(
      "TableGrid",
      "Table Grid",
      `<w:tblPr><w:tblBorders>${sides}</w:tblBorders></w:tblPr>`,
      "table",
    ),
  ];
  return `<w:styles ${W}>${all.join("")}</w:styles>`;
}

/** Each list is numbered separately: an ordered one counts from its start. */
function numbering(blocks: readonly Block[]): string {
  const level = (format: string, text: (level: number) => string) =>
    Array.from({ length: 9 }, (_, n) => {
      const indent = `<w:pPr><w:ind w:left="${(n + 1) * INDENT}" w:hanging="${INDENT - 40}"/></w:pPr>`;
      return `<w:lvl w:ilvl="${n}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text(n)}"/><w:lvlJc w:val="left"/>${indent}</w:lvl>`;
    }).join("");
  const kinds = [level("bullet", () => "•"), level("decimal", (n) => `%${n + 1}.`)];
  const abstract = kinds.map(
    (levels, kind) =>
      `<w:abstractNum w:abstractNumId="${kind}"><w:multiLevelType w:val="hybridMultilevel"/>${levels}</w:abstractNum>`,
  );
  const lists = new Map(
    blocks.flatMap((block) =>
      block.kind === "paragraph" && block.mark ? [[block.mark.list, block] as const] : [],
    ),
  );
  const numbers = [...lists].map(([list, { mark, indent }]) => {
    const restart = `<w:lvlOverride w:ilvl="${indent - 1}"><w:startOverride w:val="${mark?.start}"/></w:lvlOverride>`;
    return `<w:num w:numId="${list}"><w:abstractNumId w:val="${mark?.ordered ? 1 : 0}"/>${mark?.ordered ? restart : ""}</w:num>`;
  });
  return `<w:numbering ${W}>${[...abstract, ...numbers].join("")}</w:numbering>`;
}

/** Characters that XML cannot contain are left out. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
