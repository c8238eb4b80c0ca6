/** Turns text into glyphs of the bundled fonts, and breaks it into lines. */
import { readFileSync } from "node:fs";
import { runtimePath } from "@platform/kit/runtime-path";
import { DocumentError } from "./document.ts";
import { Font } from "./font.ts";
import type { Run } from "./markdown.ts";
import type { UsedFont } from "./pdf-file.ts";

export interface Glyph {
  /** The place of the font among the used ones. */
  readonly face: number;
  readonly glyph: number;
  readonly width: number;
  readonly isSpace: boolean;
  /** Starts a new line, and draws nothing. */
  readonly isBreak: boolean;
  readonly href: string | undefined;
  readonly strike: boolean | undefined;
}

const FONTS = runtimePath(process.cwd(), "node_modules", "dejavu-fonts-ttf", "ttf");
const REGULAR = "DejaVuSansCondensed";

interface Face extends UsedFont {
  readonly place: number;
  readonly glyphs: Map<number, string>;
}

/** Others need shaping or run from right to left, even if a font has their letters. */
const SCRIPTS = ["Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Common", "Inherited"];
const SUPPORTED = new RegExp(`^[${SCRIPTS.map((name) => `\\p{Script=${name}}`).join("")}]$`, "u");
/** Draw nothing: control characters, joiners, variation selectors and the like. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/u;

export class TextSetter {
  readonly #faces = new Map<string, Face>();

  /** @throws DocumentError for a character that no font has */
  glyphsOf(runs: readonly Run[], size: number): Glyph[] {
    return runs.flatMap((run) => {
      const { text, href, strike } = run;
      const style = { href, strike };
      const characters = Array.from(text.toWellFormed().normalize("NFC").replaceAll("\t", "    "));
      return characters.flatMap((character): Glyph[] => {
        if (character === "\n") {
          return [{ face: 0, glyph: 0, width: 0, isSpace: false, isBreak: true, ...style }];
        }
        if (INVISIBLE.test(character)) return [];
        const { place, font, glyph } = this.#find(character, faceOf(run));
        const width = (font.widthOf(glyph) * size) / 1000;
        return [
          { face: place, glyph, width, isSpace: character === " ", isBreak: false, ...style },
        ];
      });
    });
  }

  #find(character: string, wanted: string) {
    const code = character.codePointAt(0) ?? 0;
    for (const name of SUPPORTED.test(character) ? [wanted, REGULAR] : []) {
      const face = this.#face(name);
      const glyph = face.font.glyphOf(code);
      if (glyph === undefined) continue;
      face.glyphs.set(glyph, character);
      return { ...face, glyph };
    }
    const number = code.toString(16).toUpperCase().padStart(4, "0");
    throw new DocumentError(
      `cannot show “${character}” (U+${number}) as PDF: write it as .docx, or leave this character out`,
    );
  }

  #face(name: string): Face {
    const known = this.#faces.get(name);
    if (known) return known;
    const font = new Font(readFileSync(runtimePath(FONTS, `${name}.ttf`)));
    const face = { name, place: this.#faces.size, font, glyphs: new Map() };
    this.#faces.set(name, face);
    return face;
  }

  /** Returns the fonts by the places that the glyphs name. */
  usedFonts(): UsedFont[] {
    return [...this.#faces.values()];
  }
}

function faceOf({ code, bold, italic }: Run): string {
  if (code) return "DejaVuSansMono";
  if (bold) return italic ? `${REGULAR}-BoldOblique` : `${REGULAR}-Bold`;
  return italic ? `${REGULAR}-Oblique` : REGULAR;
}

/** Breaks at spaces, and within a word only where it is wider than a line. Returns at least one line. */
export function wrap(glyphs: readonly Glyph[], width: number): Glyph[][] {
  const lines: Glyph[][] = [];
  let start = 0;
  let x = 0;
  /** The start of the current word. */
  let word = 0;
  let beforeWord = 0;
  const end = (at: number) => {
    const line = glyphs.slice(start, at);
    while (line.at(-1)?.isSpace) line.pop();
    lines.push(line);
  };
  for (const [at, glyph] of glyphs.entries()) {
    if (glyph.isBreak) {
      end(at);
      start = at + 1;
      word = start;
      x = 0;
      beforeWord = 0;
      continue;
    }
    if (!glyph.isSpace && x + glyph.width > width && at > start) {
      const cut = word > start ? word : at;
      end(cut);
      x = cut === at ? 0 : x - beforeWord;
      start = cut;
      word = cut;
      beforeWord = 0;
    }
    x += glyph.width;
    if (glyph.isSpace) {
      word = at + 1;
      beforeWord = x;
    }
  }
  end(glyphs.length);
  return lines;
}
