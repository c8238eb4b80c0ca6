import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { Document } from "../_content/document.tsx";
import { PageLinks } from "../_content/page-links.tsx";
import { addressOfPage, type DocsPage, pages } from "../_content/pages.ts";
import { readDocument } from "../_content/texts.ts";

interface Props {
  readonly params: Promise<{ readonly slug: string }>;
}

const findPage = async ({ params }: Props): Promise<DocsPage | undefined> => {
  const { slug } = await params;
  return pages.find((page) => page.slug === slug);
};

export async function generateMetadata(props: Props): Promise<Metadata> {
  return { title: (await findPage(props))?.title ?? "Not found" };
}

export default async function GuidePage(props: Props) {
  const page = await findPage(props);
  if (page === undefined) notFound();
  const place = pages.indexOf(page);
  const sections = readDocument(page.file).headings.filter(({ depth }) => depth === 2);
  return (
    <div className="flex gap-10">
      <article className="min-w-0 max-w-3xl flex-1">
        <Document page={page} />
        <PageLinks before={linkTo(pages[place - 1])} after={linkTo(pages[place + 1])} />
      </article>
      {sections.length > 1 && (
        <nav
          aria-label="On this page"
          className="sticky top-8 hidden w-48 shrink-0 self-start text-sm xl:block"
        >
          <p className="pb-1 text-xs font-medium text-muted-foreground">On this page</p>
          <ul className="border-l">
            {sections.map(({ id, text }) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  className="block py-1 pl-3 text-muted-foreground hover:text-foreground"
                >
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </div>
  );
}

const linkTo = (page: DocsPage | undefined) =>
  page === undefined ? undefined : { href: addressOfPage(page), title: page.title };
