/**
 * Reads Word documents as they are displayed, with the numbers and marks that Word computes. This file is long because
 * paragraphs, tables, fields and text boxes contain each other and share their counters.
 */
import type { DocumentText, Section } from "./document.ts";
import { type Counters, type ListLabel, Numbering, newCounters, Styles } from "./docx-numbering.ts";
import {
  all,
  chosen,
  countOf,
  find,
  increment,
  numberOf,
  omittedText,
  openOffice,
  symbolOf,
  valOf,
  type Xml,
} from "./office-package.ts";

/** Elements without visible text: properties, and instructions of fields. */
const SKIPPED = new Set([
  ...["pPr", "rPr", "sectPr", "tblPr", "tblGrid", "tblPrEx", "trPr", "tcPr", "sdtPr", "sdtEndPr"],
  ...["ffData", "delInstrText", "binData", "Fallback", "docPr", "annotationRef"],
]);
/** What is counted and not shown. */
const OMITTED = new Map(
  Object.entries({
    ...{ blip: "image", imagedata: "image", chart: "chart", relIds: "diagram" },
    ...{ OLEObject: "embedded object", altChunk: "embedded document", subDoc: "embedded document" },
    ...{ oMath: "layout of an equation", control: "ActiveX control" },
  }),
);
const CHECK_MARKS = /^[☐☑☒✓✔✗✘□■❑❒❏▢]$/u;
const MAX_SPAN = 63;
const MAX_FIELDS = 50;

interface Field {
  readonly begin: Xml;
  code: string;
  isResult: boolean;
}

/** A sequence of paragraphs that counts its lists itself. */
interface Story {
  readonly counters: Counters;
  readonly fields: Field[];
  /** The start of a line whose paragraph mark is hidden or deleted. */
  before: string;
  /** The lines of text boxes that a paragraph anchors. */
  boxes: string[];
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
  const styles = new Styles(root("styles"));
  const reader = new DocxReader(styles, new Numbering(root("numbering"), styles));
  const lines: string[] = [];
  const body = newStory();
  office.visitBody(office.main, (element) => lines.push(...reader.block(element, body)));
  lines.push(...reader.rest(body));
  const shared = newCounters();
  const margins = ["header", "footer"].flatMap((type) => {
    return parts(type).map((part) => reader.text(part.children, newStory(shared)).trim());
  });
  const sections: Section[] = [
    {
      title: "",
      text: lines
        .join("\n")
        .replace(/\n{3,}/g, "\n\n")
        .trim(),
    },
    { title: "Headers and footers", text: [...new Set(margins)].filter(Boolean).join("\n") },
    { title: "Footnotes", text: reader.notes(root("footnotes"), "footnote") },
    { title: "Endnotes", text: reader.notes(root("endnotes"), "endnote") },
    { title: "Comments", text: reader.notes(root("comments"), "comment") },
  ];
  const { counts, changes } = reader;
  if (office.has(/vbaProject/i)) increment(counts, "macro project");
  const changed = [...changes].map(([unit, count]) => countOf(count, unit));
  const tracked =
    changed.length > 0
      ? ` Tracked changes: ${changed.join(", ")}; insertions are shown as accepted, deletions as [deleted: …].`
      : "";
  return {
    about: `DOCX.${omittedText(counts)}${tracked}`,
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

  constructor(styles: Styles, numbering: Numbering) {
    this.#styles = styles;
    this.#numbering = numbering;
  }

  text(elements: readonly Xml[], story: Story): string {
    const lines = elements.flatMap((element) => this.block(element, story));
    return [...lines, ...this.rest(story)].join("\n");
  }

  /** Returns the lines of a paragraph, a table, or what contains some. */
  block(element: Xml, story: Story): string[] {
    switch (element.name) {
      case "p":
        return this.#paragraph(element, story);
      case "tbl":
        return [...this.#rows(element, story).map((row) => row.join(" | ").trimEnd()), ""];
      case "AlternateContent":
        return this.block(chosen(element), story);
      case "sdt":
      case "sdtContent":
      case "customXml":
      case "ins":
      case "moveTo":
      case "Choice":
      case "Fallback":
        return element.children.flatMap((child) => this.block(child, story));
      default: {
        const text = SKIPPED.has(element.name) ? "" : this.#inline(element, story, undefined);
        return text === "" ? [] : [text];
      }
    }
  }

  /** Returns the text whose paragraph never ended. */
  rest(story: Story): string[] {
    return story.before === "" ? [] : [story.before];
  }

  #paragraph(element: Xml, story: Story): string[] {
    const properties = find(element, "pPr");
    const styleId = valOf(properties, "pStyle");
    const hiddenBefore = this.counts.get("hidden passage") ?? 0;
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
    const isHidden = isJoined && text === "" && this.counts.get("hidden passage") !== hiddenBefore;
    const number = isHidden ? undefined : this.#numbering.next(properties, story.counters);
    const label = number ? `${labelText(number)} ` : "";
    const level = this.#headingLevel(properties);
    const isHeading = level > 0 && (text + label).trim() !== "" && story.before === "";
    const heading = isHeading ? `\n${"#".repeat(level)} ` : "";
    const line = `${heading}${label}${story.before}${text}`;
    story.before = isJoined ? `${line}${isHidden ? "" : " "}` : "";
    if (isJoined || line.trim() === "") return boxes;
    return [line.trimEnd(), ...boxes];
  }

  /** Returns 1 to 6 for a heading. */
  #headingLevel(properties: Xml | undefined): number {
    const chain = this.#styles.chainOf(valOf(properties, "pStyle"));
    const stated = [properties, ...chain.map((style) => find(style, "pPr"))];
    const outline = stated
      .map((one) => numberOf(one, "outlineLvl"))
      .find((one) => one !== undefined);
    const named = chain.map((style) => /^heading (\d)$/i.exec(valOf(style, "name") ?? "")?.[1]);
    const level = Number(named.find(Boolean) ?? (outline ?? 9) + 1);
    return level > 9 ? 0 : Math.min(6, level);
  }

  /** Returns the cells of a table's rows, each on one line. */
  #rows(element: Xml, story: Story): string[][] {
    return element.children.flatMap((child): string[][] => {
      if (SKIPPED.has(child.name)) return [];
      if (child.name !== "tr") return this.#rows(child, story);
      const properties = find(child, "trPr");
      if (find(properties, "hidden")) {
        increment(this.counts, "hidden row");
        return [];
      }
      const skipped = numberOf(properties, "gridBefore") ?? 0;
      const cells = [...Array(Math.min(MAX_SPAN, skipped)).fill(""), ...this.#cells(child, story)];
      if (!find(properties, "del")) return cells.some(Boolean) ? [cells] : [];
      increment(this.changes, "deleted row");
      return [[`[deleted: ${cells.join(" | ").replaceAll("[deleted: ", "[")}]`]];
    });
  }

  #cells(row: Xml, body: Story): string[] {
    return row.children.flatMap((child): string[] => {
      if (SKIPPED.has(child.name)) return [];
      if (child.name !== "tc") return this.#cells(child, body);
      const story = { ...body, before: "", boxes: [] };
      const nested = child.children.map((one) =>
        one.name === "tbl"
          ? `[${this.#rows(one, story)
              .map((cells) => cells.join(" | "))
              .join(" / ")}]`
          : this.block(one, story).join("\n"),
      );
      const lines = [...nested, ...this.rest(story)].join("\n").split("\n");
      const text = lines
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .join(" / ");
      const span = numberOf(find(child, "tcPr"), "gridSpan") ?? 1;
      return [text, ...Array(Math.min(MAX_SPAN, Math.max(0, span - 1))).fill("")];
    });
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
    switch (name) {
      case "r":
        return this.#run(element, story, style);
      case "t":
        return shown(element.text.replaceAll("\u00ad", ""));
      case "tab":
      case "ptab":
        return shown("\t");
      case "br":
      case "cr":
        return shown("\n");
      case "noBreakHyphen":
        return shown("-");
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
      case "instrText": {
        const field = story.fields.at(-1);
        if (field && !field.isResult) field.code += element.text;
        return "";
      }
      case "fldSimple":
        return (
          this.#children(element, story, style) || this.#computed(attributes.get("instr") ?? "")
        );
      case "footnoteReference":
      case "endnoteReference":
      case "commentReference":
        return shown(this.#reference(name.replace("Reference", ""), attributes.get("id") ?? ""));
      case "sdt": {
        const box = find(find(element, "sdtPr"), "checkbox");
        if (box) return shown(isOn(find(box, "checked"), false) ? "☒" : "☐");
        return this.#children(element, story, style);
      }
      case "ruby": {
        const [base, reading] = ["rubyBase", "rt"].map((part) => find(element, part));
        const texts = [base, reading].map((part) =>
          part ? this.#children(part, story, style) : "",
        );
        return texts[1] ? `${texts[0]}(${texts[1]})` : (texts[0] ?? "");
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
    const own = find(properties, "vanish");
    if (own) return isOn(own, true);
    const isHiddenBy = (id: string | undefined) => {
      const vanish = this.#styles.chainOf(id).map((style) => find(find(style, "rPr"), "vanish"));
      return isOn(vanish.find(Boolean), false);
    };
    // A toggle that both styles have is off.
    return isHiddenBy(valOf(properties, "rStyle")) !== isHiddenBy(paragraphStyle);
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
      fields.push({ begin: element, code: "", isResult: false });
    if (type === "separate" && field) field.isResult = true;
    if (type !== "end") return "";
    fields.pop();
    const isShown = fields.every(({ isResult }) => isResult);
    if (!field || !isShown) return "";
    const data = find(field.begin, "ffData");
    const box = find(data, "checkBox");
    if (box) return isOn(find(box, "checked") ?? find(box, "default"), false) ? "☒" : "☐";
    const list = find(data, "ddList");
    const chosenEntry = numberOf(list, "result") ?? numberOf(list, "default") ?? 0;
    if (list) return all(list, "listEntry")[chosenEntry]?.attributes.get("val") ?? "";
    return this.#computed(field.code);
  }

  /** Word stores no result of these fields. */
  #computed(code: string): string {
    if (/^\s*(?:LISTNUM|AUTONUM)/i.test(code)) increment(this.counts, "number of a LISTNUM field");
    return "";
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
      const text = this.text(note?.children ?? [], { ...story, before: "", boxes: [] }).trim();
      return `${noteMark(kind, number)} ${author}${text}`;
    });
    return lines.join("\n");
  }
}

const noteMark = (kind: string, number: number): string =>
  kind === "comment" ? `[comment ${number}]` : `[^${kind === "endnote" ? "e" : ""}${number}]`;

/** Of bullets, only check boxes are shown as they are. */
function labelText({ label, level, isBullet }: ListLabel): string {
  return !isBullet || CHECK_MARKS.test(label) ? label : `${"  ".repeat(level)}-`;
}

const isOn = (toggle: Xml | undefined, otherwise: boolean): boolean =>
  toggle ? !/^(?:false|0|off)$/.test(toggle.attributes.get("val") ?? "1") : otherwise;

function deletedText({ name, text, children }: Xml): string {
  if (name === "delText" || name === "t") return text;
  if (name === "tab" || name === "br") return " ";
  return SKIPPED.has(name) ? "" : children.map(deletedText).join("");
}
