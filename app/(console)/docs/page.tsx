import type { Metadata } from "next";
import { describeReference, referenceIntroduction } from "@/lib/openapi/reference.ts";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Operation } from "./operation.tsx";
import { Prose } from "./prose.tsx";

export const metadata: Metadata = { title: "API reference" };

const sections = describeReference();

/** The API reference: drawn on the server from the OpenAPI document and its recorded examples. */
export default function DocsPage() {
  return (
    <Page className="max-w-6xl lg:grid lg:grid-cols-[13rem_minmax(0,1fr)] lg:gap-10">
      <nav aria-label="Sections" className="mb-6 lg:sticky lg:top-8 lg:mb-0 lg:self-start">
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm lg:flex-col">
          {sections.map(({ tag }) => (
            <li key={tag}>
              <a href={`#${idOf(tag)}`} className="text-accent-text hover:underline">
                {tag}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div className="min-w-0">
        <PageHeader title="Agent Platform API" description={<Prose text={referenceIntroduction} />}>
          <a href="/api/openapi.json" className="text-accent-text underline">
            OpenAPI document
          </a>
        </PageHeader>
        {sections.map(({ tag, about, operations }) => (
          <section key={tag} id={idOf(tag)} aria-labelledby={`${idOf(tag)}-title`} className="pt-6">
            <h2 id={`${idOf(tag)}-title`} className="text-lg font-semibold tracking-tight">
              {tag}
            </h2>
            <p className="mt-1 text-muted-foreground">{about}</p>
            {operations.map((operation) => (
              <Operation key={operation.id} operation={operation} />
            ))}
          </section>
        ))}
      </div>
    </Page>
  );
}

const idOf = (tag: string): string => `tag/${tag.toLowerCase().replaceAll(" ", "-")}`;
