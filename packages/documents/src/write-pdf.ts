/** Lays the blocks of Markdown out on the pages of a PDF document. */
import { DocumentError } from "./document.ts";
import { type Block, type Paragraph, type Table, textOf } from "./markdown.ts";
import { hex16, PAGE_HEIGHT, PAGE_WIDTH, type Page, writePdfFile } from "./pdf-file.ts";
import { type Glyph, TextSetter, wrap } from "./set-text.ts";
import type { WrittenDocument } from "./write-document.ts";

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
const GRAY = "0.7 G 0.6 w";
const BULLETS = ["•", "◦", "▪"];

/** @throws DocumentError for a character that no font has, and for too many pages */
export function writePdf(blocks: readonly Block[]): WrittenDocument {
  const layout = new Layout();
  for (const block of blocks) {
    if (block.kind === "table") layout.addTable(block);
    else if (block.kind === "paragraph") layout.addParagraph(block);
    else layout.addRule();
  }
  const title = blocks.find((block) => block.kind === "paragraph" && block.heading) as Paragraph;
  return layout.finish(textOf(title?.runs ?? []));
}

class Layout {
  readonly #setter = new TextSetter();
  readonly #pages: Page[] = [{ content: [], links: [] }];
  /** The bottom of the drawn content. */
  #y = PAGE_HEIGHT - MARGIN;

  get #page(): Page {
    return this.#pages.at(-1) as Page;
  }

  /** Starts a page if the height does not fit on this one. */
  #reserve(height: number): void {
    if (this.#y - height >= MARGIN || this.#y === PAGE_HEIGHT - MARGIN) return;
    if (this.#pages.length >= MAX_PAGES) {
      throw new DocumentError(`has more than ${MAX_PAGES} pages: split it`);
    }
    this.#pages.push({ content: [], links: [] });
    this.#y = PAGE_HEIGHT - MARGIN;
  }

  addParagraph({ runs, heading, isCode, mark, indent, quotes }: Paragraph): void {
    const size = heading ? (HEADING_SIZES[heading - 1] ?? SIZE) : isCode ? SMALL_SIZE : SIZE;
    const left = MARGIN + (indent + quotes) * INDENT;
    const styled = heading ? runs.map((run) => ({ ...run, bold: true })) : runs;
    const padding = isCode ? CELL_PADDING : 0;
    const width = MARGIN + TEXT_WIDTH - left - 2 * padding;
    const lines = wrap(this.#setter.glyphsOf(styled, size), width);
    const height = size * LINE_HEIGHT;
    if (heading) this.#y -= this.#y === PAGE_HEIGHT - MARGIN ? 0 : size * 0.7;
    // A heading stays with the start of its text.
    if (heading) this.#reserve(height * lines.length + 3 * SIZE * LINE_HEIGHT);
    for (const [place, line] of lines.entries()) {
      this.#reserve(height);
      const bottom = this.#y - height;
      if (isCode) this.#fill(left, bottom, width + 2 * padding, height);
      for (let quote = 0; quote < quotes; quote++) {
        this.#stroke(MARGIN + indent * INDENT + quote * INDENT + 8, bottom, 0, height);
      }
      if (place === 0 && mark) {
        const bullet = BULLETS[Math.min(indent, BULLETS.length) - 1] ?? "•";
        const text = mark.ordered ? `${mark.number}.` : bullet;
        const glyphs = this.#setter.glyphsOf([{ text }], size);
        this.#draw(glyphs, left - widthOf(glyphs) - 5, bottom, size);
      }
      this.#draw(line, left + padding, bottom, size);
      this.#y = bottom;
    }
    this.#y -= mark ? 2 : 6;
  }

  addRule(): void {
    this.#reserve(SIZE * 2);
    this.#stroke(MARGIN, this.#y - SIZE, TEXT_WIDTH, 0);
    this.#y -= SIZE * 2;
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
        if (row === header) this.#fill(x, this.#y - rowHeight, width, rowHeight);
        this.#stroke(x, this.#y - rowHeight, width, rowHeight);
        for (const [place, line] of (row[column] ?? []).slice(from, from + count).entries()) {
          const free = width - 2 * CELL_PADDING - widthOf(line);
          const shift = side === "right" ? free : side === "center" ? free / 2 : 0;
          const bottom = this.#y - ROW_PADDING - (place + 1) * height;
          this.#draw(line, x + CELL_PADDING + shift, bottom, SMALL_SIZE);
        }
        x += width;
      }
      this.#y -= rowHeight;
    };
    for (const [place, row] of wrapped.entries()) {
      const total = linesOf(row);
      // A row that is higher than a page is drawn in parts.
      for (let from = 0; from < total; from += pageLines) {
        const count = Math.min(pageLines, total - from);
        const pages = this.#pages.length;
        const next = place === 0 && wrapped[1] ? Math.min(linesOf(wrapped[1]), pageLines) + 1 : 0;
        this.#reserve((count + next) * height + 2 * ROW_PADDING);
        if (this.#pages.length > pages && place > 0 && repeats) drawRow(header, 0, linesOf(header));
        drawRow(row, from, count);
      }
    }
    this.#y -= 8;
  }

  #stroke(x: number, y: number, width: number, height: number): void {
    const shape =
      width > 0 && height > 0
        ? `${fixed(x, y, width, height)} re`
        : `${fixed(x, y)} m ${fixed(x + width, y + height)} l`;
    this.#page.content.push(`${GRAY} ${shape} S`);
  }

  #fill(x: number, y: number, width: number, height: number): void {
    this.#page.content.push(`0.95 g ${fixed(x, y, width, height)} re f`);
  }

  /** Draws glyphs, each group of one font and link at once. */
  #draw(
    line: readonly Glyph[],
    left: number,
    bottom: number,
    size: number,
    { content, links } = this.#page,
  ): void {
    const baseline = bottom + size * 0.38;
    let x = left;
    for (let from = 0; from < line.length; ) {
      const { face, href, strike } = line[from] as Glyph;
      let to = from + 1;
      while (to < line.length && isAlike(line[to], line[from])) to++;
      const group = line.slice(from, to);
      const width = widthOf(group);
      const color = href ? "0.04 0.34 0.69" : "0 0 0";
      const codes = group.map(({ glyph }) => hex16(glyph)).join("");
      content.push(`${color} rg BT /F${face} ${size} Tf ${fixed(x, baseline)} Td <${codes}> Tj ET`);
      if (href) links.push({ href, area: [x, bottom, x + width, bottom + size * 1.3].map(round) });
      if (strike) {
        const height = baseline + size * 0.3;
        content.push(`0 G 0.6 w ${fixed(x, height)} m ${fixed(x + width, height)} l S`);
      }
      x += width;
      from = to;
    }
  }

  finish(title: string): WrittenDocument {
    for (const [place, page] of this.#pages.entries()) {
      const text = `${place + 1} / ${this.#pages.length}`;
      const glyphs = this.#setter.glyphsOf([{ text }], SMALL_SIZE);
      this.#draw(glyphs, (PAGE_WIDTH - widthOf(glyphs)) / 2, MARGIN / 2, SMALL_SIZE, page);
    }
    const bytes = writePdfFile(this.#pages, this.#setter.usedFonts(), title);
    return { bytes, pages: this.#pages.length };
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
      for (const { width, isSpace, isBreak } of row[column] ?? []) {
        line = isBreak ? 0 : line + width;
        word = isSpace || isBreak ? 0 : word + width;
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
  a?.face === b?.face && a?.href === b?.href && a?.strike === b?.strike;

const widthOf = (line: readonly Glyph[]): number => line.reduce((sum, { width }) => sum + width, 0);

const round = (value: number): number => Math.round(value * 100) / 100;
const fixed = (...values: readonly number[]): string => values.map(round).join(" ");
