/** Reads a TrueType font, and cuts it down to the glyphs that a document uses. */
const DIRECTORY_BYTES = 16;
/** A PDF document maps characters to glyphs itself, without `cmap`. */
const EMBEDDED_TABLES = ["cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"];

/** @see OpenType specification, "cmap", "glyf", "hmtx" and "loca". Positions in `loca` must have four bytes. */
export class Font {
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  readonly #glyphs = new Map<number, number>();
  readonly #tables = new Map<string, Buffer>();

  constructor(file: Buffer) {
    for (let n = 0; n < file.readUInt16BE(4); n++) {
      const at = 12 + n * DIRECTORY_BYTES;
      const start = file.readUInt32BE(at + 8);
      const table = file.subarray(start, start + file.readUInt32BE(at + 12));
      this.#tables.set(file.toString("latin1", at, at + 4), table);
    }
    this.unitsPerEm = this.#table("head").readUInt16BE(18);
    this.ascent = this.#table("hhea").readInt16BE(4);
    this.descent = this.#table("hhea").readInt16BE(6);
    this.#readCharacters(this.#table("cmap"));
  }

  #table(name: string): Buffer {
    const table = this.#tables.get(name);
    if (!table) throw new Error(`The font has no table ${name}`);
    return table;
  }

  /** Reads the subtable of format 12, which has all characters. */
  #readCharacters(cmap: Buffer): void {
    for (let n = 0; n < cmap.readUInt16BE(2); n++) {
      const start = cmap.readUInt32BE(4 + n * 8 + 4);
      if (cmap.readUInt16BE(start) !== 12) continue;
      for (let group = 0; group < cmap.readUInt32BE(start + 12); group++) {
        const at = start + 16 + group * 12;
        const first = cmap.readUInt32BE(at);
        const last = cmap.readUInt32BE(at + 4);
        const glyph = cmap.readUInt32BE(at + 8);
        for (let code = first; code <= last; code++) this.#glyphs.set(code, glyph + code - first);
      }
    }
  }

  glyphOf(codePoint: number): number | undefined {
    return this.#glyphs.get(codePoint);
  }

  /** Returns the width of a glyph in thousandths of the font size. */
  widthOf(glyph: number): number {
    const widths = this.#table("hhea").readUInt16BE(34);
    const units = this.#table("hmtx").readUInt16BE(Math.min(glyph, widths - 1) * 4);
    return (units * 1000) / this.unitsPerEm;
  }

  /** Returns a font in which all other glyphs are empty, which keeps the glyph numbers. */
  subset(used: Iterable<number>): Buffer {
    const glyf = this.#table("glyf");
    const loca = this.#table("loca");
    const glyphs = new Set([0, ...used]);
    const outlineOf = (glyph: number) =>
      glyf.subarray(loca.readUInt32BE(glyph * 4), loca.readUInt32BE(glyph * 4 + 4));
    // The loop also visits glyphs added to the set while it runs.
    for (const glyph of glyphs) for (const part of partsOf(outlineOf(glyph))) glyphs.add(part);
    const outlines: Buffer[] = [];
    const positions = Buffer.alloc(loca.length);
    let end = 0;
    for (let glyph = 0; glyph * 4 + 4 < loca.length; glyph++) {
      if (glyphs.has(glyph)) {
        outlines.push(outlineOf(glyph));
        end += outlineOf(glyph).length;
      }
      positions.writeUInt32BE(end, glyph * 4 + 4);
    }
    const changed = new Map([
      ...this.#tables,
      ["glyf", Buffer.concat(outlines)],
      ["loca", positions],
    ]);
    return fileOf(
      EMBEDDED_TABLES.flatMap((name) => {
        const table = changed.get(name);
        return table ? [[name, table] as const] : [];
      }),
    );
  }
}

/** Returns the glyphs of which a glyph, such as a letter with an accent, is composed. */
function partsOf(outline: Buffer): number[] {
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return [];
  const parts: number[] = [];
  for (let at = 10, flags = 0x20; flags & 0x20; ) {
    flags = outline.readUInt16BE(at);
    parts.push(outline.readUInt16BE(at + 2));
    const scale = flags & 0x08 ? 2 : flags & 0x40 ? 4 : flags & 0x80 ? 8 : 0;
    at += 4 + (flags & 0x01 ? 4 : 2) + scale;
  }
  return parts;
}

function fileOf(tables: readonly (readonly [name: string, table: Buffer])[]): Buffer {
  const head = Buffer.alloc(12 + tables.length * DIRECTORY_BYTES);
  const power = Math.floor(Math.log2(tables.length));
  head.writeUInt32BE(0x00010000, 0);
  head.writeUInt16BE(tables.length, 4);
  head.writeUInt16BE(2 ** power * 16, 6);
  head.writeUInt16BE(power, 8);
  head.writeUInt16BE((tables.length - 2 ** power) * 16, 10);
  let offset = head.length;
  const padded = tables.map(([name, table], place) => {
    const bytes = Buffer.concat([table, Buffer.alloc(-table.length & 3)]);
    let sum = 0;
    for (let at = 0; at < bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0;
    const at = 12 + place * DIRECTORY_BYTES;
    head.write(name, at, "latin1");
    head.writeUInt32BE(sum, at + 4);
    head.writeUInt32BE(offset, at + 8);
    head.writeUInt32BE(table.length, at + 12);
    offset += bytes.length;
    return bytes;
  });
  return Buffer.concat([head, ...padded]);
}
