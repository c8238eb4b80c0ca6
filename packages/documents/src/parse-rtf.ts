/** Reads Rich Text Format as its writers mean it: code pages by font, Unicode, tables and changes. */
import { isAscii } from "node:buffer";
import { decode } from "./decode-text.ts";
import { countOf, DocumentError, type DocumentText, increment, omittedText } from "./document.ts";
import { symbolOf } from "./office-package.ts";

const MAX_DEPTH = 5_000;

/** Destinations without text. All unknown ones that start with `\*` are skipped, too. */
const SKIPPED = new Set([
  ...["colortbl", "stylesheet", "info", "private", "fldinst", "xe", "tc", "rxe"],
  ...["sp", "shprslt", "nonesttables"],
]);
/** Destinations after `\*` that have text, or that lead to some. */
const READ = new Set([
  ...["shpinst", "shptxt", "nesttableprops", "annotation", "atnauthor", "formfield", "fonttbl"],
]);
/** Destinations that are counted and not shown, except the text of an object for other readers. */
const OMITTED = new Map(
  Object.entries({
    ...{ pict: "image", object: "embedded object", mmath: "equation", formfield: "form field" },
  }),
);
/** The texts of control words and control symbols. */
const SYMBOLS = new Map(
  Object.entries({
    ...{ par: "\n", line: "\n", sect: "\n", page: "\n", column: "\n", row: "\n", nestrow: " / " },
    ...{ tab: "\t", cell: " | ", nestcell: " | ", emdash: "—", endash: "–", bullet: "•" },
    ...{ lquote: "‘", rquote: "’", ldblquote: "“", rdblquote: "”", emspace: " ", enspace: " " },
    ...{ qmspace: " ", softline: "\n", zwj: "\u200d", zwnj: "\u200c" },
    ...{ "~": "\u00a0", _: "-", "\t": "\t" },
    ...{ footnote: " [footnote: ", annotation: " [comment: " },
  }),
);
/** @see Rich Text Format Specification 1.9.1, "Font Table", `\fcharset` */
const CHARSETS: Readonly<Record<number, number>> = {
  ...{ 0: 1252, 77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254 },
  ...{ 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250 },
};
/** The labels of code pages that are not named after Windows. */
const ENCODINGS: Readonly<Record<number, string>> = {
  ...{ 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 866: "ibm866" },
  ...{ 10000: "macintosh", 20866: "koi8-r", 54936: "gb18030", 65001: "utf-8" },
};

interface Font {
  page?: number | undefined;
  isSymbol: boolean;
  name: string;
}

/** The state of a group, which ends with it. */
interface Group {
  readonly target: "body" | "margin" | "fonts" | "none";
  /** The code page of text in a font without one. */
  readonly page: number;
  readonly defaultFont: number;
  /** -1 for the default one. */
  readonly font: number;
  /** Characters after a Unicode one, which stand for it in old readers. */
  readonly skips: number;
  readonly isHidden: boolean;
  readonly isDeleted: boolean;
  readonly isInTable: boolean;
  /** The text with which the group ends. */
  readonly close: string;
}

const BODY: Group = {
  ...{ target: "body", page: 1252, defaultFont: -1, font: -1, skips: 1, close: "" },
  ...{ isHidden: false, isDeleted: false, isInTable: false },
};
const MARGIN = { target: "margin", close: "\n" } as const;

/** The group properties that control words change. */
const CHANGES = new Map<string, (value: number | undefined) => Partial<Group>>([
  ["ansicpg", (page = 1252) => ({ page })],
  ["mac", () => ({ page: 10000 })],
  ["deff", (defaultFont = -1) => ({ defaultFont })],
  ["f", (font = -1) => ({ font })],
  ["uc", (skips = 1) => ({ skips: Math.max(0, Math.min(skips, 32)) })],
  ["plain", () => ({ isHidden: false, isDeleted: false, font: -1 })],
  ["pard", () => ({ isInTable: false })],
  ["intbl", () => ({ isInTable: true })],
  ["v", (value) => ({ isHidden: value !== 0 })],
  ["deleted", (value) => ({ isDeleted: value !== 0 })],
  ["fonttbl", () => ({ target: "fonts" })],
  ["footnote", () => ({ close: "]", isInTable: true })],
  ["annotation", () => ({ close: "]", isInTable: true })],
  ["atnauthor", () => ({ close: ":" })],
  ["shptxt", () => ({ close: "\n" })],
  ...["header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"].map(
    (word) => [word, () => MARGIN] as const,
  ),
]);

/** @throws DocumentError for groups that are nested too deeply */
export function parseRtf(bytes: Uint8Array): DocumentText {
  const reader = new RtfReader();
  reader.read(Buffer.from(bytes).toString("latin1"));
  const { counts, deletions } = reader;
  const tracked = ` Tracked changes: ${countOf(deletions, "deletion")}, shown as [deleted: …].`;
  const margin = [...new Set(tidy(reader.margin).split("\n"))].join("\n");
  const sections = [
    { title: "", text: tidy(reader.body) },
    ...(margin === "" ? [] : [{ title: "Headers and footers", text: margin }]),
  ];
  return {
    about: `RTF.${omittedText(counts)}${deletions > 0 ? tracked : ""}`,
    sections,
    sheets: [],
  };
}

const tidy = (text: string): string =>
  text
    .replaceAll(" | \n", "\n")
    .replaceAll(" | ]", "]")
    .replaceAll(" | / ", " / ")
    .replaceAll("][deleted: ", "")
    .trim();

class RtfReader {
  readonly counts = new Map<string, number>();
  deletions = 0;
  body = "";
  margin = "";
  readonly #groups: Group[] = [];
  readonly #fonts = new Map<number, Font>();
  #group = BODY;
  /** Bytes of one code page that are not decoded yet: characters may have two. */
  #pending: number[] = [];
  /** Characters that are still to be skipped. */
  #skip = 0;
  #wasHidden = false;
  #isStarred = false;

  /** @param text the file, with a character for each byte */
  read(text: string): void {
    const token = /\\(?:'([0-9a-f]{2})|([a-z]+)(-?\d+)? ?|([^a-z]))|[{}]|[\r\n\0]+|[^\\{}]/gi;
    for (let match = token.exec(text); match; match = token.exec(text)) {
      const [whole, hex, word, value, symbol] = match;
      if (whole === "{") this.#open();
      else if (whole === "}") this.#close();
      else if (word === "bin") token.lastIndex += Math.max(0, Number(value ?? 0));
      else if (word !== undefined)
        this.#word(word, value === undefined ? undefined : Number(value));
      else if (symbol !== undefined) this.#symbol(symbol);
      else if (hex !== undefined) this.#byte(Number.parseInt(hex, 16));
      else if (!/[\r\n\0]/.test(whole)) this.#byte(whole.charCodeAt(0));
    }
    this.#flush();
  }

  #open(): void {
    this.#flush();
    if (this.#groups.length >= MAX_DEPTH) throw new DocumentError("is nested too deeply");
    this.#groups.push(this.#group);
    this.#group = { ...this.#group, close: "" };
    this.#skip = 0;
  }

  #close(): void {
    this.#flush();
    this.#add(this.#group.close);
    this.#group = this.#groups.pop() ?? this.#group;
    this.#skip = 0;
  }

  #symbol(symbol: string): void {
    if (symbol === "*") this.#isStarred = true;
    else if (this.#skip > 0) this.#skip--;
    else if (/[\r\n]/.test(symbol)) this.#word("par", undefined);
    else if (/[{}\\]/.test(symbol)) this.#byte(symbol.charCodeAt(0));
    else this.#add(SYMBOLS.get(symbol) ?? "");
  }

  #word(word: string, value: number | undefined): void {
    this.#flush();
    const isStarred = this.#isStarred;
    this.#isStarred = false;
    if (this.#skip > 0) {
      this.#skip = word === "u" ? this.#group.skips : this.#skip - 1;
      return;
    }
    const omitted = OMITTED.get(word);
    if (omitted && (this.#group.target !== "none" || word === "formfield"))
      increment(this.counts, omitted);
    const isUnknown = isStarred && !READ.has(word);
    if (isUnknown || SKIPPED.has(word) || (omitted && word !== "object"))
      this.#group = { ...this.#group, target: "none" };
    if (this.#group.target === "none") return;
    if (word === "u") {
      this.#add(String.fromCharCode((value ?? 0) & 0xffff));
      this.#skip = this.#group.skips;
      return;
    }
    this.#add(word === "par" && this.#group.isInTable ? " / " : (SYMBOLS.get(word) ?? ""));
    this.#group = { ...this.#group, ...CHANGES.get(word)?.(value) };
    if (this.#group.target === "fonts") this.#describeFont(word, value);
  }

  #describeFont(word: string, value = 0): void {
    const number = this.#group.font;
    const font = this.#fonts.get(number);
    if (word === "f") this.#fonts.set(number, { name: "", isSymbol: false });
    if (word === "fcharset" && font)
      Object.assign(font, { page: CHARSETS[value], isSymbol: value === 2 });
  }

  #byte(byte: number): void {
    if (this.#skip > 0) this.#skip--;
    else if (this.#group.target !== "none") this.#pending.push(byte);
  }

  /** Decodes the bytes of the current font. */
  #flush(): void {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending);
    this.#pending = [];
    const { target, font: own, defaultFont } = this.#group;
    const font = this.#fonts.get(own === -1 ? defaultFont : own);
    if (target !== "fonts") this.#add(this.#decode(bytes, font));
    else if (font) font.name += bytes.toString("latin1").replace(/;$/, "");
  }

  #decode(bytes: Buffer, font: Font | undefined): string {
    if (font?.isSymbol) {
      const symbols = Array.from(bytes, (byte) => symbolOf(font.name, byte));
      return symbols.map((one, at) => one ?? String.fromCharCode(bytes[at] ?? 0)).join("");
    }
    if (isAscii(bytes)) return bytes.toString("latin1");
    const page = font?.page ?? this.#group.page;
    const text = decode(ENCODINGS[page] ?? `windows-${page}`, bytes);
    if (text === null) increment(this.counts, "passage in an unknown encoding");
    return text ?? bytes.toString("latin1");
  }

  #add(text: string): void {
    this.#flush();
    if (text === "") return;
    const { target, isHidden, isDeleted } = this.#group;
    if (target === "none" || target === "fonts") return;
    const isBlank = text.trim() === "";
    if (isHidden && !this.#wasHidden && !isBlank) increment(this.counts, "hidden passage");
    this.#wasHidden = isHidden;
    if (isHidden) return;
    if (isDeleted && !isBlank) this.deletions++;
    const shown = isDeleted && !isBlank ? `[deleted: ${text}]` : text;
    if (target === "margin") this.margin += shown;
    else this.body += shown;
  }
}
