import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createElement, Fragment, type ReactNode } from "react";
import { serviceOrigin } from "@/lib/platform/service-origin.ts";
import { type MarkdownParts, renderBlock } from "../../_markdown/render.tsx";
import { Link } from "../../_ui/link.tsx";
import { readDocument, resolveLink } from "../_content/documents.ts";
import { addressOfPage, type DocsPage, pages } from "../_content/pages.ts";
import { DocsCode, PageLinks } from "../prose.tsx";

type Props = Readonly<{ params: Promise<{ readonly slug: string }> }>;

const findPage = async ({ params }: Props): Promise<DocsPage | undefined> => {
  const { slug } = await params;
  return pages.find((page) => page.slug === slug);
};

export const generateMetadata = async (props: Props): Promise<Metadata> => ({
  title: (await findPage(props))?.title ?? "Not found",
});

export default async function GuidePage(props: Props) {
  const page = await findPage(props);
  if (page === undefined) notFound();
  const sections = readDocument(page).headings.filter(({ depth }) => depth === 2);
  return (
    <div className="flex gap-10">
      <article className="min-w-0 max-w-3xl flex-1">
        <Document page={page} />
        <PageLinks links={pages.map(linkTo)} place={pages.indexOf(page)} />
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

const linkTo = (page: DocsPage) => ({ href: addressOfPage(page), title: page.title });

const headingStyles = [
  "text-2xl",
  "mt-8 border-t pt-6 text-xl",
  "mt-4 text-lg",
  "mt-2 text-base",
] as const;

/** A document of the repository, drawn on the server. */
function Document({ page }: { readonly page: DocsPage }) {
  const { tokens, ids } = readDocument(page);
  const parts: MarkdownParts = {
    heading: (token, children) => {
      const id = ids.get(token);
      return createElement(
        `h${token.depth}`,
        {
          id,
          className: `group scroll-mt-6 font-semibold tracking-tight ${headingStyles[token.depth - 1] ?? "text-base"}`,
        },
        children,
        token.depth > 1 && (
          <a
            href={`#${id}`}
            aria-label="Link to this section"
            className="ml-1.5 inline-block px-1 font-normal text-muted-foreground opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
          >
            #
          </a>
        ),
      );
    },
    code: (text, language) => (
      <DocsCode text={language === "sh" ? withOrigin(text) : text} language={language} />
    ),
    formula: ({ raw }) => raw,
    image: (_, label) => label,
    link: (address, children) => (
      <DocsLink href={resolveLink(address, page.file)}>{children}</DocsLink>
    ),
    footnoteReference: (label) => `[^${label}]`,
  };
  return (
    <div className="flex min-w-0 flex-col gap-4 leading-relaxed [overflow-wrap:anywhere]">
      {tokens.map((token, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a document never changes
        <Fragment key={index}>{renderBlock(token, parts)}</Fragment>
      ))}
    </div>
  );
}

/** Commands in the documents use a local server; here they use the one that serves the page. */
const withOrigin = (text: string): string =>
  text.replaceAll(/(?:http:\/\/)?localhost:3000/g, serviceOrigin());

function DocsLink({ href, children }: Readonly<{ href: string | null; children: ReactNode }>) {
  const style = "text-accent-text underline underline-offset-2 hover:no-underline";
  if (href === null) return children;
  const Anchor = href.startsWith("/") ? Link : "a";
  return (
    <Anchor href={href} className={style}>
      {children}
    </Anchor>
  );
}
