/** Reads the parts of Office Open XML documents. */
import { posix } from "node:path";
import { codePoint } from "dingbat-to-unicode";
import { Parser } from "htmlparser2";
import { DocumentError } from "./document.ts";
import { readZip } from "./read-zip.ts";

/** Far deeper than the documents of people, and little enough for recursive functions. */
const MAX_DEPTH = 500;
const PIECE_BYTES = 64 * 1024;

/** An element whose names have no prefixes: writers choose them freely. */
export interface Xml {
  readonly name: string;
  /** `r:id` wins over `id`, because elements that have both are looked up by their relationship. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: Xml[];
  /** The text of the element itself, without its children. */
  text: string;
}

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();
const NOTHING: Xml = { name: "", attributes: NO_ATTRIBUTES, children: [], text: "" };

/** @throws Error for an archive without a main part; DocumentError as `readZip` */
export function openOffice(bytes: Uint8Array, usualMain: string) {
  const { names, entries } = readZip(bytes, (name) => /\.(?:xml|rels)$/i.test(name));
  const parts = new Map([...entries].map(([name, part]) => [partName(name), part]));
  /** Returns the root of a part, or an empty element if the package lacks it. */
  const part = (name = ""): Xml => {
    const xml = parts.get(partName(name));
    return xml ? parseXml(xml) : NOTHING;
  };
  /** Returns the relations of a part to others: their types such as `footnotes`, and their names. */
  const relations = (owner: string) => {
    const { dir, base } = posix.parse(owner);
    return all(part(`${dir}/_rels/${base}.rels`), "Relationship").map(({ attributes }) => ({
      id: attributes.get("Id") ?? "",
      type: attributes.get("Type")?.split("/").at(-1) ?? "",
      target: partName(posix.resolve(`/${dir}`, attributes.get("Target") ?? "")),
    }));
  };
  const stated = relations("").find(({ type }) => type === "officeDocument")?.target ?? "";
  const main = parts.has(stated) ? stated : usualMain;
  if (!parts.has(main)) throw new Error(`The package has no part ${usualMain}`);
  return {
    /** The name of the main part. */
    main,
    part,
    relations,
    has: (name: RegExp) => names.some((entry) => name.test(entry)),
    /** Passes the children of the part's body to `visit` one by one, without keeping them. */
    visitBody: (name: string, visit: (element: Xml) => void) =>
      void parseXml(parts.get(name) ?? new Uint8Array(), visit),
  };
}

const partName = (name: string): string =>
  posix.normalize(name.replaceAll("\\", "/").replace(/^\/+/, "")).replace(/^\/+/, "").toLowerCase();

/**
 * Entities other than the predefined ones stay as they are written.
 * @throws DocumentError for elements that are nested too deeply
 */
function parseXml(bytes: Uint8Array, visitOfBody?: (element: Xml) => void): Xml {
  const top: Xml = { ...NOTHING, children: [] };
  const open = [top];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (open.length > MAX_DEPTH) throw new DocumentError("is nested too deeply");
        const element = { name: local(name), attributes: attributesOf(attributes), text: "" };
        open.push({ ...element, children: [] });
      },
      ontext(data) {
        const element = open.at(-1) ?? top;
        // Indentation would take the memory of a large part.
        if (element.children.length === 0) element.text += data;
      },
      onclosetag() {
        const element = open.pop() ?? top;
        const parent = open.at(-1) ?? top;
        if (visitOfBody && parent.name === "body") visitOfBody(element);
        else parent.children.push(element);
      },
    },
    { xmlMode: true },
  );
  const decoder = new TextDecoder();
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    parser.write(decoder.decode(bytes.subarray(from, from + PIECE_BYTES), { stream: true }));
  }
  parser.end(decoder.decode());
  return top.children.at(-1) ?? NOTHING;
}

const local = (name: string): string => name.slice(name.indexOf(":") + 1);

function attributesOf(given: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const kept = Object.entries(given).filter(([name]) => !/rsid|^xmlns/i.test(name));
  if (kept.length === 0) return NO_ATTRIBUTES;
  const isPrefixed = ([name]: readonly [string, string]) => Number(name.includes(":"));
  kept.sort((one, other) => isPrefixed(one) - isPrefixed(other));
  return new Map(kept.map(([name, value]) => [local(name), value]));
}

export const find = (element: Xml | undefined, name: string): Xml | undefined =>
  element?.children.find((child) => child.name === name);

export const all = (element: Xml | undefined, name: string): Xml[] =>
  element?.children.filter((child) => child.name === name) ?? [];

/** Returns the `val` of a child. */
export const valOf = (element: Xml | undefined, name: string): string | undefined =>
  find(element, name)?.attributes.get("val");

export const numberOf = (element: Xml | undefined, name: string): number | undefined => {
  const value = Number.parseInt(valOf(element, name) ?? "", 10);
  return Number.isNaN(value) ? undefined : value;
};

/** Returns the first of the alternatives, which is the newest. */
export const chosen = (alternatives: Xml): Xml =>
  find(alternatives, "Choice") ?? find(alternatives, "Fallback") ?? NOTHING;

const CHECK_MARKS = new Map(Object.entries({ "🗹": "☑", "🗷": "☒", "🗸": "✓" }));

/** Returns a character of a font such as Wingdings; undefined for other fonts. */
export function symbolOf(font: string, code: number): string | undefined {
  const known = codePoint(font, code) ?? codePoint(font, code & 0xff);
  return known && (CHECK_MARKS.get(known.string) ?? known.string);
}
