import { Link } from "../../_ui/link.tsx";
import { PageHeader } from "../../_ui/page-header.tsx";
import { addressOfTag } from "../_content/pages.ts";
import { describeReference, referenceIntroduction } from "../_content/reference.ts";
import { MethodLabel, Prose } from "../prose.tsx";

export const metadata = { title: "API reference" };

const sections = describeReference();

export default function ReferencePage() {
  return (
    <>
      <PageHeader title="API reference" description={<Prose text={referenceIntroduction} />}>
        <a href="/api/openapi.json" className="text-accent-text underline">
          OpenAPI document
        </a>
      </PageHeader>
      {sections.map(({ tag, about, operations }) => (
        <section key={tag} aria-label={tag} className="mt-8">
          <h2 className="text-lg font-semibold tracking-tight">{tag}</h2>
          <p className="mt-1 text-muted-foreground">{about}</p>
          <ul className="mt-3 divide-y overflow-hidden rounded-xl border">
            {operations.map(({ id, contract }) => (
              <li key={id}>
                <Link
                  href={`${addressOfTag(tag)}#${id}`}
                  className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-3 gap-y-0.5 px-4 py-2 hover:bg-muted focus-visible:-outline-offset-2 lg:grid-cols-[auto_minmax(0,1.1fr)_minmax(0,1fr)]"
                >
                  <MethodLabel method={contract.method} className="w-14" />
                  <code className="min-w-0 font-mono text-sm break-all">{contract.path}</code>
                  <span className="text-sm text-muted-foreground max-lg:col-start-2">
                    {contract.summary}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
