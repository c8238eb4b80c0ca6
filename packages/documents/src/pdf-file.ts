/** Writes the objects of a PDF file. See ISO 32000-1, sections 7.5, 9.7 and 12.5. */
import { deflateSync } from "node:zlib";
import type { Font } from "./font.ts";

export const PAGE_WIDTH = 595;
export const PAGE_HEIGHT = 842;

export interface Page {
  /** Operators of its content. */
  readonly content: string[];
  /** Where a click opens a URL: left, bottom, right and top. */
  readonly links: { readonly href: string; readonly area: readonly number[] }[];
}

/** A font with its used glyphs and the text of each. */
export interface UsedFont {
  readonly name: string;
  readonly font: Font;
  readonly glyphs: ReadonlyMap<number, string>;
}

/** @param fonts are `/F0`, `/F1` and so on in the content of the pages */
export function writePdfFile(
  pages: readonly Page[],
  fonts: readonly UsedFont[],
  title: string,
): Buffer {
  const objects: Buffer[] = [];
  const add = (body: string) => objects.push(Buffer.from(body, "latin1"));
  const addStream = (data: Buffer, more = "") => {
    const packed = deflateSync(data);
    const head = `<< /Length ${packed.length} /Filter /FlateDecode ${more}>>\nstream\n`;
    return objects.push(Buffer.concat([Buffer.from(head), packed, Buffer.from("\nendstream")]));
  };
  const catalog = add("<< /Type /Catalog /Pages 2 0 R >>");
  const tree = add("");
  const info = add(`<< /Title ${hexText(title)} >>`);
  const resources = fonts.map((used, n) => `/F${n} ${addFont(used, n, add, addStream)} 0 R`);
  const kids = pages.map(({ content, links }) => {
    const annotations = links.map(
      ({ href, area }) =>
        `<< /Type /Annot /Subtype /Link /Rect [${area.join(" ")}] /Border [0 0 0] /A << /S /URI /URI ${asciiString(new URL(href).href)} >> >>`,
    );
    const body = addStream(Buffer.from(content.join("\n"), "latin1"));
    return add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 ${PAGE_WIDTH} ${PAGE_HEIGHT}] /Resources << /Font << ${resources.join(" ")} >> >> /Contents ${body} 0 R /Annots [${annotations.join(" ")}] >>`,
    );
  });
  const list = kids.map((kid) => `${kid} 0 R`).join(" ");
  objects[tree - 1] = Buffer.from(`<< /Type /Pages /Kids [${list}] /Count ${kids.length} >>`);
  return fileOf(objects, `/Root ${catalog} 0 R /Info ${info} 0 R`);
}

function addFont(
  { name, font, glyphs }: UsedFont,
  n: number,
  add: (body: string) => number,
  addStream: (data: Buffer, more?: string) => number,
): number {
  const toUnits = (value: number) => Math.round((value * 1000) / font.unitsPerEm);
  const bytes = font.subset(glyphs.keys());
  const file = addStream(bytes, `/Length1 ${bytes.length} `);
  // Six letters and a plus sign say that the font is not whole.
  const baseFont = `/AAAAA${String.fromCharCode(65 + n)}+${name}`;
  const box = `[-1000 ${toUnits(font.descent)} 2000 ${toUnits(font.ascent)}]`;
  const descriptor = add(
    `<< /Type /FontDescriptor /FontName ${baseFont} /Flags 4 /FontBBox ${box} /ItalicAngle 0 /Ascent ${toUnits(font.ascent)} /Descent ${toUnits(font.descent)} /CapHeight 729 /StemV 80 /FontFile2 ${file} 0 R >>`,
  );
  const widths = [...glyphs.keys()].map((glyph) => `${glyph} [${Math.round(font.widthOf(glyph))}]`);
  const descendant = add(
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont ${baseFont} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor ${descriptor} 0 R /W [${widths.join(" ")}] /CIDToGIDMap /Identity >>`,
  );
  const texts = addStream(Buffer.from(toUnicode(glyphs), "latin1"));
  return add(
    `<< /Type /Font /Subtype /Type0 /BaseFont ${baseFont} /Encoding /Identity-H /DescendantFonts [${descendant} 0 R] /ToUnicode ${texts} 0 R >>`,
  );
}

/** Returns the CMap by which readers find and copy text. A block of it has at most 100 entries. */
function toUnicode(glyphs: ReadonlyMap<number, string>): string {
  const entries = [...glyphs].map(([glyph, text]) => `<${hex16(glyph)}> <${utf16(text)}>`);
  const blocks: string[] = [];
  for (let from = 0; from < entries.length; from += 100) {
    const block = entries.slice(from, from + 100);
    blocks.push(`${block.length} beginbfchar\n${block.join("\n")}\nendbfchar`);
  }
  return `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def /CMapType 2 def
1 begincodespacerange <0000> <FFFF> endcodespacerange
${blocks.join("\n")}
endcmap CMapName currentdict /CMap defineresource pop end end`;
}

function fileOf(objects: readonly Buffer[], trailer: string): Buffer {
  const chunks: Buffer[] = [Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  let position = chunks[0]?.length ?? 0;
  const positions: string[] = [];
  const push = (chunk: Buffer) => {
    chunks.push(chunk);
    position += chunk.length;
  };
  for (const [place, body] of objects.entries()) {
    positions.push(`${String(position).padStart(10, "0")} 00000 n \n`);
    push(Buffer.from(`${place + 1} 0 obj\n`));
    push(body);
    push(Buffer.from("\nendobj\n"));
  }
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${positions.join("")}`;
  chunks.push(
    Buffer.from(`${table}trailer\n<< /Size ${size} ${trailer} >>\nstartxref\n${position}\n%%EOF\n`),
  );
  return Buffer.concat(chunks);
}

export const hex16 = (value: number): string => value.toString(16).padStart(4, "0");

const utf16 = (text: string): string =>
  Array.from({ length: text.length }, (_, n) => hex16(text.charCodeAt(n))).join("");

const hexText = (text: string): string => `<feff${utf16(text)}>`;

const asciiString = (url: string): string => `(${url.replace(/[\\()]/g, "\\$&")})`;
