/**
 * Reads Word documents as they are displayed, with the numbers and marks that Word computes. This file is long because
 * paragraphs, tables, fields and text boxes contain each other and share their counters.
 */
import { countOf, type DocumentText, increment, omittedText, type Section } from "./document.ts";
import { type Counters, Numbering, newCounters, Styles } from "./docx-numbering.ts";
import {
  all,
  chosen,
  find,
  numberOf,
  openOffice,
  symbolOf,
  valOf,
  type Xml,
} from "./office-package.ts";

/** Elements without visible text: properties, and instructions of fields. */
const SKIPPED = new Set([
  ...["pPr", "rPr", "sectPr", "tblPr", "tblGrid", "tblPrEx", "trPr", "tcPr", "sdtPr", "sdtEndPr"],
  ...["ffData", "delInstrText", "binData", "Fallback", "docPr", "annotationRef", "rt"],
]);
/** Elements that are counted and not shown. */
const OMITTED = new Map(
  Object.entries({
    ...{ blip: "image", imagedata: "image", chart: "chart", relIds: "diagram" },
    ...{ OLEObject: "embedded object", altChunk: "embedded document", subDoc: "embedded document" },
    ...{ oMath: "layout of an equation", control: "ActiveX control", rt: "phonetic guide" },
  }),
);
const SIGNS = new Map(
  Object.entries({ tab: "\t", ptab: "\t", br: "\n", cr: "\n", noBreakHyphen: "-" }),
);
/** Elements around paragraphs, without a text beside them. */
const WRAPPERS = new Set([
  ...["sdt", "sdtContent", "customXml", "ins", "moveTo", "Choice", "Fallback"],
]);
const MAX_SPAN = 63;
const MAX_FIELDS = 50;

interface Field {
  readonly begin: Xml;
  isResult: boolean;
}

/** A sequence of paragraphs that counts its lists itself. */
interface Story {
  readonly counters: Counters;
  readonly fields: Field[];
  /** The start of a line whose paragraph mark is hidden or deleted. */
  before: string;
  /** The lines of text boxes that a paragraph anchors. */
  readonly boxes: string[];
}

const newStory = (counters = newCounters()): Story => ({
  ...{ counters, fields: [], before: "", boxes: [] },
});

/** @throws Error for no document of Word; DocumentError */
export function parseDocx(bytes: Uint8Array): DocumentText {
  const office = openOffice(bytes, "word/document.xml");
  const relations = office.relations(office.main);
  const parts = (type: string) =>
    relations.filter((one) => one.type === type).map(({ target }) => office.part(target));
  const root = (type: string) => parts(type)[0] ?? office.part(undefined);
  const reader = new DocxReader(root("styles"), root("numbering"));
  const body = newStory();
  const lines: string[] = [];
  office.visitBody(office.main, (element) => lines.push(...reader.block(element, body)));
  const text = [...lines, body.before].join("\n").replace(/\n{3,}/g, "\n\n");
  const shared = newCounters();
  const margins = ["header", "footer"]
    .flatMap(parts)
    .map(({ children }) => reader.text(children, newStory(shared)));
  const sections: Section[] = [
    { title: "", text: text.trim() },
    { title: "Headers and footers", text: [...new Set(margins)].filter(Boolean).join("\n") },
    { title: "Footnotes", text: reader.notes(root("footnotes"), "footnote") },
    { title: "Endnotes", text: reader.notes(root("endnotes"), "endnote") },
    { title: "Comments", text: reader.notes(root("comments"), "comment") },
  ];
  const { counts, changes } = reader;
  if (office.has(/vbaProject/i)) increment(counts, "macro project");
  const changed = [...changes].map(([unit, count]) => countOf(count, unit)).join(", ");
  const tracked = ` Tracked changes: ${changed}; insertions are shown as accepted, deletions as [deleted: …].`;
  return {
    about: `DOCX.${omittedText(counts)}${changed === "" ? "" : tracked}`,
    sections: sections.filter(({ title, text }) => title === "" || text !== ""),
    sheets: [],
  };
}

class DocxReader {
  readonly counts = new Map<string, number>();
  readonly changes = new Map<string, number>();
  readonly #styles: Styles;
  readonly #numbering: Numbering;
  /** The ids of notes and comments in the order in which the text refers to them. */
  readonly #references = new Map<string, Map<string, number>>();
  /** Whether the text before was hidden, too: a passage consists of many runs. */
  #wasHidden = false;

  constructor(styles: Xml, numbering: Xml) {
    this.#styles = new Styles(styles);
    this.#numbering = new Numbering(numbering, this.#styles, this.counts);
  }

  text(elements: readonly Xml[], story: Story): string {
    const lines = elements.flatMap((element) => this.block(element, story));
    return [...lines, story.before].join("\n").trim();
  }

  /** Returns the lines of a paragraph, a table, or what contains some. */
  block(element: Xml, story: Story): string[] {
    const { name, children } = element;
    if (name === "p") return this.#paragraph(element, story);
    if (name === "tbl") return [...this.#rows(element, story).map((row) => row.trimEnd()), ""];
    if (name === "AlternateContent") return this.block(chosen(element), story);
    if (WRAPPERS.has(name)) return children.flatMap((child) => this.block(child, story));
    const text = this.#inline(element, story, undefined);
    return text === "" ? [] : [text];
  }

  #paragraph(element: Xml, story: Story): string[] {
    const properties = find(element, "pPr");
    const styleId = valOf(properties, "pStyle");
    const text = this.#children(element, story, styleId).replaceAll("][deleted: ", "");
    this.#wasHidden = false;
    // An instruction that never ends must not hide the rest of the document.
    for (const field of story.fields) field.isResult = true;
    const boxes = story.boxes.splice(0);
    const mark = find(properties, "rPr");
    if (find(mark, "del") ?? find(mark, "moveFrom")) {
      story.before += text;
      return boxes;
    }
    const isJoined = this.#isHidden(mark, undefined);
    if (isJoined && text === "") return boxes;
    const chain = this.#styles.chainOf(styleId);
    const label = this.#numbering.next(properties, chain, story.counters);
    const content = `${label === "" ? "" : `${label} `}${story.before}${text}`;
    const level = headingLevel(properties, chain);
    const isHeading = level > 0 && content.trim() !== "" && story.before === "";
    const line = isHeading ? `\n${"#".repeat(level)} ${content}` : content;
    story.before = isJoined ? `${line} ` : "";
    return isJoined || line.trim() === "" ? boxes : [line.trimEnd(), ...boxes];
  }

  /** Returns the rows of a table, each on one line. */
  #rows(table: Xml, story: Story): string[] {
    return within(table, "tr").flatMap((row) => {
      const properties = find(row, "trPr");
      if (find(properties, "hidden")) {
        increment(this.counts, "hidden row");
        return [];
      }
      const cells = within(row, "tc").flatMap((cell) => this.#cell(cell, story));
      const line = cells.join(" | ");
      if (!find(properties, "del")) return cells.some(Boolean) ? [line] : [];
      increment(this.changes, "deleted row");
      return [`[deleted: ${line.replaceAll("[deleted: ", "[")}]`];
    });
  }

  /** Returns the text of a cell, and an empty one for each further column that it spans. */
  #cell(cell: Xml, body: Story): string[] {
    const story = { ...body, before: "", boxes: [] };
    const blocks = cell.children.flatMap((child) =>
      child.name === "tbl"
        ? [`[${this.#rows(child, story).join(" / ")}]`]
        : this.block(child, story),
    );
    const lines = [...blocks, story.before].join("\n").split("\n");
    const text = lines.map((line) => line.trim()).filter(Boolean);
    const span = numberOf(find(cell, "tcPr"), "gridSpan") ?? 1;
    return [text.join(" / "), ...Array(Math.min(MAX_SPAN, Math.max(0, span - 1))).fill("")];
  }

  #children(element: Xml, story: Story, style: string | undefined): string {
    return element.children.map((child) => this.#inline(child, story, style)).join("");
  }

  /** @param style of the paragraph */
  #inline(element: Xml, story: Story, style: string | undefined): string {
    const { name, attributes } = element;
    const omitted = OMITTED.get(name);
    if (omitted) increment(this.counts, omitted);
    if (SKIPPED.has(name)) return "";
    const isShown = story.fields.every(({ isResult }) => isResult);
    const shown = (text: string) => (isShown ? text : "");
    const sign = SIGNS.get(name);
    if (sign) return shown(sign);
    switch (name) {
      case "r":
        return this.#run(element, story, style);
      case "t":
        return shown(element.text.replaceAll("\u00ad", ""));
      case "sym": {
        const code = Number.parseInt(attributes.get("char") ?? "", 16);
        return shown(this.#symbol(attributes.get("font"), code));
      }
      case "del": {
        const text = deletedText(element);
        if (text === "") return "";
        increment(this.changes, "deletion");
        return `[deleted: ${text}]`;
      }
      case "moveFrom":
        increment(this.changes, "move");
        return "";
      case "ins":
        increment(this.changes, "insertion");
        return this.#children(element, story, style);
      case "fldChar":
        return this.#fieldCharacter(element, story);
      case "instrText":
        // Word stores no result of these fields.
        if (/\b(?:LISTNUM|AUTONUM)/i.test(element.text))
          increment(this.counts, "number of a LISTNUM field");
        return "";
      case "footnoteReference":
      case "endnoteReference":
      case "commentReference":
        return shown(this.#reference(name.replace("Reference", ""), attributes.get("id") ?? ""));
      case "sdt": {
        const box = find(find(element, "sdtPr"), "checkbox");
        if (box) return shown(isOn(find(box, "checked")) ? "☒" : "☐");
        return this.#children(element, story, style);
      }
      case "AlternateContent":
        return this.#children(chosen(element), story, style);
      case "textpath":
        story.boxes.push(attributes.get("string") ?? "");
        return "";
      case "txbxContent":
        story.boxes.push(this.text(element.children, newStory()));
        return "";
      default:
        return this.#children(element, story, style);
    }
  }

  #run(element: Xml, story: Story, style: string | undefined): string {
    const properties = find(element, "rPr");
    const text = this.#children(element, story, style);
    if (text === "") return "";
    if (this.#isHidden(properties, style)) {
      if (!this.#wasHidden && text.trim() !== "") increment(this.counts, "hidden passage");
      this.#wasHidden = text.trim() !== "";
      return "";
    }
    this.#wasHidden = false;
    const font = find(properties, "rFonts")?.attributes;
    const typeface = font?.get("ascii") ?? font?.get("hAnsi") ?? "Symbol";
    return text.replace(/[\uf020-\uf0ff]/g, (character) => {
      return this.#symbol(typeface, character.charCodeAt(0));
    });
  }

  #isHidden(properties: Xml | undefined, paragraphStyle: string | undefined): boolean {
    const runStyles = this.#styles.chainOf(valOf(properties, "rStyle"));
    const styles = [...runStyles, ...this.#styles.chainOf(paragraphStyle)];
    const stated = [properties, ...styles.map((style) => find(style, "rPr"))];
    return isOn(stated.map((one) => find(one, "vanish")).find(Boolean));
  }

  /** Returns a character of a font such as Wingdings. */
  #symbol(font: string | undefined, code: number): string {
    const isPrivate = code >= 0xf000 && code <= 0xf0ff;
    const known = symbolOf(font ?? "", code);
    if (known) return known;
    if (!isPrivate && code > 0x1f && code <= 0x10ffff) return String.fromCodePoint(code);
    increment(this.counts, "symbol of an unknown font");
    return "";
  }

  #fieldCharacter(element: Xml, { fields }: Story): string {
    const type = element.attributes.get("fldCharType");
    const field = fields.at(-1);
    if (type === "begin" && fields.length < MAX_FIELDS)
      fields.push({ begin: element, isResult: false });
    if (type === "separate" && field) field.isResult = true;
    if (type !== "end") return "";
    fields.pop();
    if (!field || !fields.every(({ isResult }) => isResult)) return "";
    const data = find(field.begin, "ffData");
    const box = find(data, "checkBox");
    if (box) return isOn(find(box, "checked") ?? find(box, "default")) ? "☒" : "☐";
    const list = find(data, "ddList");
    const place = numberOf(list, "result") ?? numberOf(list, "default") ?? 0;
    return all(list, "listEntry")[place]?.attributes.get("val") ?? "";
  }

  #reference(kind: string, id: string): string {
    const numbers = this.#references.get(kind) ?? new Map<string, number>();
    this.#references.set(kind, numbers);
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    return noteMark(kind, number);
  }

  /** Returns the notes or comments to which the text refers. */
  notes(root: Xml, kind: string): string {
    const story = newStory();
    const noteOf = new Map(all(root, kind).map((note) => [note.attributes.get("id"), note]));
    const lines = [...(this.#references.get(kind) ?? [])].map(([id, number]) => {
      const note = noteOf.get(id);
      const author = kind === "comment" ? `${note?.attributes.get("author") ?? ""}: ` : "";
      const text = this.text(note?.children ?? [], { ...story, before: "" });
      return `${noteMark(kind, number)} ${author}${text}`;
    });
    return lines.join("\n");
  }
}

/**
 * Returns 1 to 6 for a heading, and 0 for other paragraphs.
 * @param chain the paragraph's style and those on which it is based
 */
function headingLevel(properties: Xml | undefined, chain: readonly Xml[]): number {
  const named = chain.map((style) => /^heading (\d)$/i.exec(valOf(style, "name") ?? "")?.[1]);
  const outlines = [properties, ...chain.map((style) => find(style, "pPr"))]
    .map((one) => numberOf(one, "outlineLvl"))
    .filter((one) => one !== undefined);
  const level = Number(named.find(Boolean) ?? (outlines[0] ?? 9) + 1);
  return level > 9 ? 0 : Math.min(6, level);
}

const noteMark = (kind: string, number: number): string =>
  kind === "comment" ? `[comment ${number}]` : `[^${kind === "endnote" ? "e" : ""}${number}]`;

const isOn = (toggle: Xml | undefined): boolean =>
  toggle !== undefined && !/^(?:false|0|off)$/.test(toggle.attributes.get("val") ?? "1");

/** Returns the descendants of that name in a table or a row, which may stand in content controls. */
const within = (element: Xml, name: string): Xml[] =>
  element.children.flatMap((child) => {
    if (child.name === name) return [child];
    return SKIPPED.has(child.name) ? [] : within(child, name);
  });

function deletedText({ name, text, children }: Xml): string {
  if (name === "delText" || name === "t") return text;
  if (name === "tab" || name === "br") return " ";
  return SKIPPED.has(name) ? "" : children.map(deletedText).join("");
}
