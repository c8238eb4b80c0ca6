import { ArrowRight } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { PageHeader } from "../_ui/page-header.tsx";
import { addressOfPage, groups } from "./_content/pages.ts";

export const metadata = { title: "Documentation" };

export default function DocsPage() {
  return (
    <>
      <PageHeader
        title="Documentation"
        description="An agent with a sandbox behind an HTTP API: send a message, stream the answer, and let it work on releases, royalties and tours while nobody waits."
      />
      <Link
        href="/docs/quickstart"
        className="flex items-center justify-between gap-4 rounded-xl border bg-accent-soft px-5 py-4 text-accent-text hover:underline"
      >
        <span>
          <span className="block font-semibold">Start with the quickstart</span>
          <span className="block">
            From an API key to the first streamed turn in four requests.
          </span>
        </span>
        <ArrowRight aria-hidden className="size-5 shrink-0" />
      </Link>
      {groups.map(({ title, pages }) => (
        <section key={title} aria-label={title} className="mt-8">
          <h2 className="text-lg font-semibold tracking-tight">{title}</h2>
          <Cards cards={pages.map((page) => ({ ...page, href: addressOfPage(page) }))} />
        </section>
      ))}
      <section aria-label="API reference" className="mt-8">
        <h2 className="text-lg font-semibold tracking-tight">API reference</h2>
        <Cards
          cards={[
            {
              href: "/docs/reference",
              title: "All endpoints",
              about: "Every endpoint with its fields, a recorded exchange, and a form to try it.",
            },
            {
              href: "/api/openapi.json",
              title: "OpenAPI document",
              about: "The same for generators and tools, as OpenAPI 3.1.",
            },
          ]}
        />
      </section>
    </>
  );
}

type Card = Readonly<{ href: string; title: string; about: string }>;

const Cards = ({ cards }: { readonly cards: readonly Card[] }) => (
  <ul className="mt-3 grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
    {cards.map(({ href, title, about }) => (
      <li key={href}>
        <Link
          href={href}
          className="block h-full rounded-xl border bg-surface px-4 py-3 hover:border-input hover:bg-muted"
        >
          <span className="block font-medium">{title}</span>
          <span className="block text-muted-foreground">{about}</span>
        </Link>
      </li>
    ))}
  </ul>
);
