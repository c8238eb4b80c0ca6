/** Reads presentations: their slides in their order, with notes and comments. */
import type { DocumentText } from "./document.ts";
import { formatCount } from "./docx-numbering.ts";
import {
  all,
  chosen,
  countOf,
  find,
  increment,
  omittedText,
  openOffice,
  type Xml,
} from "./office-package.ts";

const OMITTED = new Map(
  Object.entries({
    ...{ pic: "image", chart: "chart", oleObj: "embedded object", oMath: "layout of an equation" },
    ...{ videoFile: "video", audioFile: "sound" },
  }),
);
const NUMBER_FORMATS = new Map(
  Object.entries({
    ...{ alphaLc: "lowerLetter", alphaUc: "upperLetter", romanLc: "lowerRoman" },
    ...{ romanUc: "upperRoman", circleNum: "decimalEnclosedCircle" },
  }),
);

/** @throws Error for no presentation; DocumentError */
export function parsePptx(bytes: Uint8Array): DocumentText {
  const office = openOffice(bytes, "ppt/presentation.xml");
  const targets = new Map(office.relations(office.main).map(({ id, target }) => [id, target]));
  const listed = all(find(office.part(office.main), "sldIdLst"), "sldId");
  const counts = new Map<string, number>();
  const sections = listed.map(({ attributes }, place) => {
    const name = targets.get(attributes.get("id") ?? "") ?? "";
    const slide = office.part(name);
    const isHidden = /^(?:0|false)$/.test(slide.attributes.get("show") ?? "");
    const linked = office.relations(name).map(({ type, target }) => {
      if (type === "diagramData") return linesOf(office.part(target), counts);
      if (type !== "notesSlide" && type !== "comments") return [];
      const label = type === "comments" ? "Comment" : "Notes";
      const lines = linesOf(office.part(target), counts, type === "notesSlide");
      return lines.length > 0 ? [`${label}: ${lines.join("\n")}`] : [];
    });
    const lines = [...linesOf(slide, counts), ...linked.flat()];
    const title = `Slide ${place + 1}${isHidden ? " (hidden)" : ""}`;
    return { title, text: lines.join("\n") };
  });
  if (office.has(/vbaProject/i)) increment(counts, "macro project");
  const about = `PPTX, ${countOf(sections.length, "slide")}.${omittedText(counts)}`;
  return { about, sections, sheets: [] };
}

/** @param areNotes leaves out the picture of the slide, its number and the date */
function linesOf(element: Xml, counts: Map<string, number>, areNotes = false): string[] {
  const { name, children } = element;
  const omitted = OMITTED.get(name);
  if (omitted) increment(counts, omitted);
  switch (name) {
    case "sp":
    case "grpSp":
    case "graphicFrame": {
      const [properties] = children;
      const shown = find(properties, "cNvPr")?.attributes.get("hidden") ?? "0";
      if (/^(?:1|true)$/.test(shown)) {
        increment(counts, "hidden shape");
        return [];
      }
      const holder = find(find(properties, "nvPr"), "ph")?.attributes.get("type") ?? "";
      if (areNotes && /^(?:sldImg|sldNum|dt|hdr|ftr)$/.test(holder)) return [];
      break;
    }
    case "txBody":
      return paragraphs(element);
    case "tbl":
      return all(element, "tr").map((row) => rowText(row, counts));
    case "AlternateContent":
      return linesOf(chosen(element), counts, areNotes);
    case "t":
      return linesOf({ ...element, name: "txBody", children: all(element, "p") }, counts);
    case "text":
      return [element.text];
  }
  return children.flatMap((child) => linesOf(child, counts, areNotes));
}

const rowText = (row: Xml, counts: Map<string, number>): string =>
  all(row, "tc")
    .map((cell) => linesOf(cell, counts).join(" / ").replaceAll("\n", " / "))
    .join(" | ");

/** Numbered paragraphs of one level and format that follow each other count on. */
function paragraphs(body: Xml): string[] {
  const counters = new Map<number, { value: number; key: string }>();
  return all(body, "p").flatMap((paragraph) => {
    const properties = find(paragraph, "pPr");
    const level = Number(properties?.attributes.get("lvl") ?? 0);
    for (const deeper of counters.keys()) if (deeper > level) counters.delete(deeper);
    const text = inlineText(paragraph).trimEnd();
    const numbered = find(properties, "buAutoNum")?.attributes;
    if (!numbered) {
      if (text !== "") counters.delete(level);
      return text === "" ? [] : [text];
    }
    if (text === "") return [];
    const key = `${numbered.get("type")} ${numbered.get("startAt")}`;
    const counter = counters.get(level);
    const start = Number(numbered.get("startAt") ?? 1);
    const value = counter?.key === key ? counter.value + 1 : start;
    counters.set(level, { value, key });
    return [`${numberText(value, numbered.get("type") ?? "")} ${text}`];
  });
}

/** @param type such as `alphaLcParenBoth` */
function numberText(value: number, type: string): string {
  const [, name = ""] = /^([a-z]+(?:Lc|Uc|Num)?)/.exec(type) ?? [];
  const number = formatCount(value, NUMBER_FORMATS.get(name) ?? "decimal");
  if (type.endsWith("ParenBoth")) return `(${number})`;
  if (type.endsWith("ParenR")) return `${number})`;
  return type.endsWith("Period") ? `${number}.` : number;
}

function inlineText({ name, text, children }: Xml): string {
  if (name === "t") return text.replaceAll("\u00ad", "");
  if (name === "br") return "\n";
  if (name === "tab") return "\t";
  if (name === "pPr" || name === "rPr") return "";
  return children.map(inlineText).join("");
}
