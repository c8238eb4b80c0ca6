import Link from "next/link";
import { createElement, Fragment, type ReactNode } from "react";
import { serviceOrigin } from "@/lib/platform/service-origin.ts";
import { type MarkdownParts, renderBlock } from "../../_markdown/render.tsx";
import { DocsCode } from "./docs-code.tsx";
import type { DocsPage } from "./pages.ts";
import { resolveLink } from "./parse-document.ts";
import { readDocument } from "./texts.ts";

const headingStyles = [
  "text-2xl",
  "mt-8 border-t pt-6 text-xl",
  "mt-4 text-lg",
  "mt-2 text-base",
] as const;

/** A document of the repository, drawn on the server. */
export function Document({ page }: { readonly page: DocsPage }) {
  const { tokens, ids } = readDocument(page.file);
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

/** Commands in the documents are for a server on this machine, and here for the one that serves the page. */
const withOrigin = (text: string): string =>
  text.replaceAll(/(?:http:\/\/)?localhost:3000/g, serviceOrigin());

interface DocsLinkProps {
  readonly href: string | null;
  readonly children: ReactNode;
}

function DocsLink({ href, children }: DocsLinkProps) {
  const style = "text-accent-text underline underline-offset-2 hover:no-underline";
  if (href === null) return children;
  if (href.startsWith("/")) {
    return (
      <Link href={href} prefetch={false} className={style}>
        {children}
      </Link>
    );
  }
  return (
    <a href={href} className={style}>
      {children}
    </a>
  );
}
