/** Measures text in the bundled fonts, and breaks it into lines. */
import { runtimePath } from "@platform/kit/runtime-path";
import { DocumentError } from "./document.ts";
import type { Run } from "./markdown.ts";

export interface Glyph {
  readonly font: string;
  readonly character: string;
  readonly width: number;
  readonly href: string | undefined;
  readonly strike: boolean | undefined;
}

export const REGULAR = "DejaVuSansCondensed";
const MONO = "DejaVuSansMono";
const STYLES = [REGULAR, `${REGULAR}-Bold`, `${REGULAR}-Oblique`, `${REGULAR}-BoldOblique`, MONO];
const FOLDER = runtimePath(process.cwd(), "node_modules", "dejavu-fonts-ttf", "ttf");
/** The files of the fonts by their names. */
export const FONT_FILES: ReadonlyMap<string, string> = new Map(
  STYLES.map((name) => [name, runtimePath(FOLDER, `${name}.ttf`)]),
);

/** Others need shaping or run from right to left, even if a font has their letters. */
const SCRIPTS = ["Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Common", "Inherited"];
const SUPPORTED = new RegExp(`^[${SCRIPTS.map((name) => `\\p{Script=${name}}`).join("")}]$`, "u");
/** Draw nothing: control characters, joiners, variation selectors and the like. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/u;

export class TextSetter {
  readonly #document: PDFKit.PDFDocument;
  /** Per point of the size, by font and character; null for a character that the font does not have. */
  readonly #widths = new Map<string, number | null>();

  constructor(document: PDFKit.PDFDocument) {
    this.#document = document;
  }

  /** @throws DocumentError for a character that no font has */
  glyphsOf(runs: readonly Run[], size: number): Glyph[] {
    return runs.flatMap((run) => {
      const { text, href, strike } = run;
      const characters = Array.from(text.toWellFormed().normalize("NFC").replaceAll("\t", "    "));
      return characters.flatMap((character): Glyph[] => {
        if (character === "\n") return [{ font: REGULAR, character, width: 0, href, strike }];
        if (INVISIBLE.test(character)) return [];
        const { font, width } = this.#find(character, fontOf(run));
        return [{ font, character, width: width * size, href, strike }];
      });
    });
  }

  #find(character: string, wanted: string): { font: string; width: number } {
    for (const font of SUPPORTED.test(character) ? [wanted, REGULAR] : []) {
      const width = this.#widthOf(character, font);
      if (width !== null) return { font, width };
    }
    const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    throw new DocumentError(
      `cannot show “${character}” (U+${number}) as PDF: write it as .docx, or leave this character out`,
    );
  }

  #widthOf(character: string, font: string): number | null {
    const key = `${font} ${character}`;
    const known = this.#widths.get(key);
    if (known !== undefined) return known;
    const document = this.#document.font(font, 1);
    const width = hasGlyph(document, character) ? document.widthOfString(character) : null;
    this.#widths.set(key, width);
    return width;
  }
}

/** Returns whether the current font has the character, which pdfkit finds out only by drawing it. */
function hasGlyph(document: PDFKit.PDFDocument, character: string): boolean {
  const { _font } = document as unknown as {
    _font: { font: { hasGlyphForCodePoint(code: number): boolean } };
  };
  return _font.font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0);
}

function fontOf({ code, bold, italic }: Run): string {
  if (code) return MONO;
  if (bold) return italic ? `${REGULAR}-BoldOblique` : `${REGULAR}-Bold`;
  return italic ? `${REGULAR}-Oblique` : REGULAR;
}

/** Breaks at spaces, and within a word only where it is wider than a line. Returns at least one line. */
export function wrap(glyphs: readonly Glyph[], width: number): Glyph[][] {
  const lines: Glyph[][] = [];
  let start = 0;
  let x = 0;
  /** Where the word starts that is being read. */
  let word = 0;
  let beforeWord = 0;
  const end = (at: number) => {
    const line = glyphs.slice(start, at);
    while (line.at(-1)?.character === " ") line.pop();
    lines.push(line);
  };
  for (const [at, glyph] of glyphs.entries()) {
    if (glyph.character === "\n") {
      end(at);
      start = at + 1;
      word = start;
      x = 0;
      beforeWord = 0;
      continue;
    }
    const isSpace = glyph.character === " ";
    if (!isSpace && x + glyph.width > width && at > start) {
      const cut = word > start ? word : at;
      end(cut);
      x = cut === at ? 0 : x - beforeWord;
      start = cut;
      word = cut;
      beforeWord = 0;
    }
    x += glyph.width;
    if (isSpace) {
      word = at + 1;
      beforeWord = x;
    }
  }
  end(glyphs.length);
  return lines;
}
