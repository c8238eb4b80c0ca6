/** Lays the blocks of Markdown out on the pages of a PDF document. */
import { buffer } from "node:stream/consumers";
import PDFDocument from "pdfkit";
import { DocumentError } from "./document.ts";
import { type Block, type Paragraph, type Table, textOf } from "./markdown.ts";
import { FONT_FILES, type Glyph, REGULAR, TextSetter, wrap } from "./set-text.ts";
import type { WrittenDocument } from "./write-document.ts";

const PAGE_WIDTH = 595;
const PAGE_HEIGHT = 842;
const MARGIN = 62;
const TEXT_WIDTH = PAGE_WIDTH - 2 * MARGIN;
const MAX_PAGES = 1_000;
const SIZE = 10;
const SMALL_SIZE = 8.5;
/** For headings of the levels 1 to 6. */
const HEADING_SIZES = [18, 15, 12.5, 11, 10, 10];
const LINE_HEIGHT = 1.4;
const INDENT = 20;
/** The gap between two columns is wider than any between words. */
const CELL_PADDING = 6.5;
const ROW_PADDING = 3;
const BULLETS = ["•", "◦", "▪"];

/** @throws DocumentError for a character that no font has, and for too many pages */
export function writePdf(blocks: readonly Block[]): Promise<WrittenDocument> {
  const title = blocks.find((block) => block.kind === "paragraph" && block.heading) as Paragraph;
  const layout = new Layout(textOf(title?.runs ?? []));
  for (const block of blocks) {
    if (block.kind === "table") layout.addTable(block);
    else if (block.kind === "paragraph") layout.addParagraph(block);
    else layout.addRule();
  }
  return layout.finish();
}

class Layout {
  readonly #document: PDFKit.PDFDocument;
  readonly #setter: TextSetter;
  #pages = 1;
  /** The bottom of the drawn content, from the top of the page. */
  #y = MARGIN;

  constructor(title: string) {
    this.#document = new PDFDocument({
      size: [PAGE_WIDTH, PAGE_HEIGHT],
      margin: 0,
      // The footers have the number of pages.
      bufferPages: true,
      font: FONT_FILES.get(REGULAR) ?? "",
      info: { Title: title },
    });
    for (const [name, path] of FONT_FILES) this.#document.registerFont(name, path);
    this.#setter = new TextSetter(this.#document);
  }

  /** Starts a page if the height does not fit on this one. */
  #reserve(height: number): void {
    if (this.#y + height <= PAGE_HEIGHT - MARGIN || this.#y === MARGIN) return;
    if (this.#pages >= MAX_PAGES) {
      throw new DocumentError(`has more than ${MAX_PAGES} pages: split it`);
    }
    this.#document.addPage();
    this.#pages += 1;
    this.#y = MARGIN;
  }

  addParagraph({ runs, heading, isCode, mark, indent, quotes }: Paragraph): void {
    const size = heading ? (HEADING_SIZES[heading - 1] ?? SIZE) : isCode ? SMALL_SIZE : SIZE;
    const left = MARGIN + (indent + quotes) * INDENT;
    const styled = heading ? runs.map((run) => ({ ...run, bold: true })) : runs;
    const padding = isCode ? CELL_PADDING : 0;
    const width = MARGIN + TEXT_WIDTH - left - 2 * padding;
    const lines = wrap(this.#setter.glyphsOf(styled, size), width);
    const height = size * LINE_HEIGHT;
    if (heading) this.#y += this.#y === MARGIN ? 0 : size * 0.7;
    // A heading stays with the start of its text.
    if (heading) this.#reserve(height * lines.length + 3 * SIZE * LINE_HEIGHT);
    for (const [place, line] of lines.entries()) {
      this.#reserve(height);
      if (isCode) this.#fill(left, this.#y, width + 2 * padding, height);
      for (let quote = 0; quote < quotes; quote++) {
        this.#stroke(MARGIN + indent * INDENT + quote * INDENT + 8, this.#y, 0, height);
      }
      if (place === 0 && mark) {
        const bullet = BULLETS[Math.min(indent, BULLETS.length) - 1] ?? "•";
        const text = mark.ordered ? `${mark.number}.` : bullet;
        const glyphs = this.#setter.glyphsOf([{ text }], size);
        this.#draw(glyphs, left - widthOf(glyphs) - 5, this.#y, size);
      }
      this.#draw(line, left + padding, this.#y, size);
      this.#y += height;
    }
    this.#y += mark ? 2 : 6;
  }

  addRule(): void {
    this.#reserve(SIZE * 2);
    this.#stroke(MARGIN, this.#y + SIZE, TEXT_WIDTH, 0);
    this.#y += SIZE * 2;
  }

  addTable({ columns, rows, indent, quotes }: Table): void {
    const left = MARGIN + (indent + quotes) * INDENT;
    const cells = rows.map((row) =>
      columns.map((_, column) => this.#setter.glyphsOf(row[column] ?? [], SMALL_SIZE)),
    );
    const widths = columnWidths(cells, columns.length, MARGIN + TEXT_WIDTH - left);
    const wrapped = cells.map((row) =>
      row.map((cell, column) => wrap(cell, (widths[column] ?? 0) - 2 * CELL_PADDING)),
    );
    const height = SMALL_SIZE * LINE_HEIGHT;
    const linesOf = (row: readonly Glyph[][][]) => Math.max(1, ...row.map((cell) => cell.length));
    const [header = []] = wrapped;
    const repeats = linesOf(header) <= 5;
    const pageLines = Math.floor((PAGE_HEIGHT - 2 * MARGIN) / height) - 8;
    const drawRow = (row: readonly Glyph[][][], from: number, count: number) => {
      const rowHeight = count * height + 2 * ROW_PADDING;
      let x = left;
      for (const [column, side] of columns.entries()) {
        const width = widths[column] ?? 0;
        if (row === header) this.#fill(x, this.#y, width, rowHeight);
        this.#stroke(x, this.#y, width, rowHeight);
        for (const [place, line] of (row[column] ?? []).slice(from, from + count).entries()) {
          const free = width - 2 * CELL_PADDING - widthOf(line);
          const shift = side === "right" ? free : side === "center" ? free / 2 : 0;
          const top = this.#y + ROW_PADDING + place * height;
          this.#draw(line, x + CELL_PADDING + shift, top, SMALL_SIZE);
        }
        x += width;
      }
      this.#y += rowHeight;
    };
    for (const [place, row] of wrapped.entries()) {
      const total = linesOf(row);
      // A row that is higher than a page is drawn in parts.
      for (let from = 0; from < total; from += pageLines) {
        const count = Math.min(pageLines, total - from);
        const pages = this.#pages;
        const next = place === 0 && wrapped[1] ? Math.min(linesOf(wrapped[1]), pageLines) + 1 : 0;
        this.#reserve((count + next) * height + 2 * ROW_PADDING);
        if (this.#pages > pages && place > 0 && repeats) drawRow(header, 0, linesOf(header));
        drawRow(row, from, count);
      }
    }
    this.#y += 8;
  }

  #stroke(x: number, y: number, width: number, height: number): void {
    this.#document.lineWidth(0.6).rect(x, y, width, height).stroke("#b3b3b3");
  }

  #fill(x: number, y: number, width: number, height: number): void {
    this.#document.rect(x, y, width, height).fill("#f2f2f2");
  }

  /** Draws glyphs, each group of one font and link at once. */
  #draw(line: readonly Glyph[], left: number, top: number, size: number): void {
    let x = left;
    for (let from = 0; from < line.length; ) {
      const { font, href, strike } = line[from] as Glyph;
      let to = from + 1;
      while (to < line.length && isAlike(line[to], line[from])) to++;
      const group = line.slice(from, to);
      const text = group.map(({ character }) => character).join("");
      this.#document
        .font(font, size)
        .fillColor(href ? "#0a57b0" : "black")
        .text(text, x, top + size * 0.1, {
          lineBreak: false,
          ...(href ? { link: new URL(href).href } : {}),
          ...(strike ? { strike } : {}),
        });
      x += widthOf(group);
      from = to;
    }
  }

  async finish(): Promise<WrittenDocument> {
    for (let page = 0; page < this.#pages; page++) {
      this.#document.switchToPage(page);
      const glyphs = this.#setter.glyphsOf([{ text: `${page + 1} / ${this.#pages}` }], SMALL_SIZE);
      const left = (PAGE_WIDTH - widthOf(glyphs)) / 2;
      this.#draw(glyphs, left, PAGE_HEIGHT - MARGIN / 2 - SMALL_SIZE, SMALL_SIZE);
    }
    this.#document.end();
    return { bytes: await buffer(this.#document), pages: this.#pages };
  }
}

/** Gives each column the width of its texts, or a fair share of the rest, but its longest word at least. */
function columnWidths(
  rows: readonly (readonly Glyph[][])[],
  columns: number,
  available: number,
): number[] {
  const wanted = Array.from({ length: columns }, (_, column) => {
    let whole = 0;
    let longest = 0;
    for (const row of rows) {
      let line = 0;
      let word = 0;
      for (const { width, character } of row[column] ?? []) {
        line = character === "\n" ? 0 : line + width;
        word = /[ \n]/.test(character) ? 0 : word + width;
        whole = Math.max(whole, line);
        longest = Math.max(longest, word);
      }
    }
    const padding = 2 * CELL_PADDING + 0.1;
    return { column, whole: whole + padding, least: Math.min(longest + padding, available / 3) };
  });
  const widths: number[] = [];
  let free = available;
  const narrowFirst = wanted.toSorted((a, b) => a.whole - b.whole);
  for (const [place, { column, whole, least }] of narrowFirst.entries()) {
    const width = Math.min(whole, Math.max(least, free / (columns - place)));
    widths[column] = width;
    free -= width;
  }
  const total = widths.reduce((sum, width) => sum + width, 0);
  return total <= available ? widths : widths.map((width) => (width * available) / total);
}

const isAlike = (a: Glyph | undefined, b: Glyph | undefined): boolean =>
  a?.font === b?.font && a?.href === b?.href && a?.strike === b?.strike;

const widthOf = (line: readonly Glyph[]): number => line.reduce((sum, { width }) => sum + width, 0);
