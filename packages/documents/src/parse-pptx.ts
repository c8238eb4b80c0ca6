/** Reads presentations: their slides in their order, with notes and comments. */
import { countOf, type DocumentText, increment, omittedText } from "./document.ts";
import { all, chosen, find, openOffice, type Xml } from "./office-package.ts";

const OMITTED = new Map(
  Object.entries({
    ...{ pic: "image", chart: "chart", oleObj: "embedded object", oMath: "layout of an equation" },
    ...{ videoFile: "video", audioFile: "sound", buAutoNum: "list number" },
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
      const hidden = find(properties, "cNvPr")?.attributes.get("hidden") ?? "0";
      if (/^(?:1|true)$/.test(hidden)) {
        increment(counts, "hidden shape");
        return [];
      }
      const holder = find(find(properties, "nvPr"), "ph")?.attributes.get("type") ?? "";
      if (areNotes && /^(?:sldImg|sldNum|dt|hdr|ftr)$/.test(holder)) return [];
      break;
    }
    case "p": {
      const text = inlineText(element, counts).trimEnd();
      return text === "" ? [] : [text];
    }
    case "tr": {
      const cells = all(element, "tc").map((cell) => linesOf(cell, counts).join("\n"));
      return [cells.map((cell) => cell.replaceAll("\n", " / ")).join(" | ")];
    }
    case "AlternateContent":
      return linesOf(chosen(element), counts, areNotes);
    case "text":
      return [element.text];
  }
  return children.flatMap((child) => linesOf(child, counts, areNotes));
}

function inlineText({ name, text, children }: Xml, counts: Map<string, number>): string {
  if (OMITTED.has(name)) increment(counts, OMITTED.get(name) ?? "");
  if (name === "t") return text.replaceAll("\u00ad", "");
  if (name === "br") return "\n";
  if (name === "tab") return "\t";
  return children.map((child) => inlineText(child, counts)).join("");
}
