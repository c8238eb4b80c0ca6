/** What the search of the documentation finds: its headings, and the endpoints. */
import { describeReference } from "@/lib/openapi/reference.ts";
import { addressOfPage, addressOfTag, pages } from "./pages.ts";
import { readDocument } from "./texts.ts";

export interface SearchEntry {
  readonly title: string;
  /** Where it stands: the page's title, or method and path. */
  readonly place: string;
  readonly href: string;
}

let index: readonly SearchEntry[] | undefined;

export const searchIndex = (): readonly SearchEntry[] => (index ??= [...guides(), ...endpoints()]);

const guides = (): SearchEntry[] =>
  pages.flatMap((page) =>
    readDocument(page.file).headings.map(({ id, text, depth }) => ({
      title: text,
      place: page.title,
      href: depth === 1 ? addressOfPage(page) : `${addressOfPage(page)}#${id}`,
    })),
  );

const endpoints = (): SearchEntry[] =>
  describeReference().flatMap(({ tag, operations }) =>
    operations.map(({ id, contract }) => ({
      title: contract.summary,
      place: `${contract.method} ${contract.path}`,
      href: `${addressOfTag(tag)}#${id}`,
    })),
  );
