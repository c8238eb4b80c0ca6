import type { Metadata } from "next";
import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { serviceOrigin } from "@/lib/platform/service-origin.ts";
import { ChevronRight } from "../../../_ui/icons.tsx";
import { PageHeader } from "../../../_ui/page-header.tsx";
import { addressOfTag, slugOfTag } from "../../_content/pages.ts";
import {
  describeReference,
  type ReferenceField,
  type ReferenceOperation,
  type ReferenceSection,
} from "../../_content/reference.ts";
import { DocsCode, MethodLabel, PageLinks, Prose } from "../../prose.tsx";
import { TestRequest } from "../../test-request.tsx";

type Props = Readonly<{ params: Promise<{ readonly tag: string }> }>;

const sections = describeReference();

const findSection = async ({ params }: Props): Promise<ReferenceSection | undefined> => {
  const { tag } = await params;
  return sections.find((section) => slugOfTag(section.tag) === tag);
};

export const generateMetadata = async (props: Props): Promise<Metadata> => ({
  title: (await findSection(props))?.tag ?? "Not found",
});

/** The endpoints of one tag, from the OpenAPI document and its recorded examples. */
export default async function TagPage(props: Props) {
  const section = await findSection(props);
  if (section === undefined) notFound();
  return (
    <>
      <PageHeader title={section.tag} description={section.about} />
      {section.operations.map((operation) => (
        <Operation key={operation.id} operation={operation} />
      ))}
      <PageLinks links={sections.map(linkTo)} place={sections.indexOf(section)} />
    </>
  );
}

const linkTo = ({ tag }: ReferenceSection) => ({ href: addressOfTag(tag), title: tag });

const authentication = {
  required: "Needs a credential",
  optional: "Credential optional",
  none: "No credential",
};

/** One endpoint: its description, request, response and a recorded exchange. */
function Operation({ operation }: { readonly operation: ReferenceOperation }) {
  const { id, contract, description, parameters, body, answers, errors, example, curl } = operation;
  const { method, path, summary, auth } = contract;
  return (
    <article id={id} aria-label={summary} className="scroll-mt-6 border-t py-8">
      <h2 className="text-lg font-semibold tracking-tight">
        <a href={`#${id}`} className="hover:underline">
          {summary}
        </a>
      </h2>
      <p className="mt-1 flex flex-wrap items-center gap-2">
        <MethodLabel method={method} />
        <code className="min-w-0 font-mono text-sm break-all">{path}</code>
        <span className="text-sm text-muted-foreground">{authentication[auth]}</span>
      </p>
      <div className="mt-3 grid gap-x-8 gap-y-4 xl:grid-cols-2">
        <div className="min-w-0">
          {description !== undefined && (
            <p className="max-w-prose">
              <Prose text={description} />
            </p>
          )}
          <Fields title="Parameters" fields={parameters} isOpen />
          <Fields title="Body" fields={body} isOpen />
          {answers.map(({ status, description: meaning, fields }) =>
            fields.length === 0 ? (
              <p key={status} className="mt-3 border-t pt-3 text-sm text-muted-foreground">
                <span className="font-medium text-foreground">Response {status}</span>{" "}
                <Prose text={meaning} />
              </p>
            ) : (
              <Fields key={status} title={`Response ${status}`} note={meaning} fields={fields} />
            ),
          )}
          <Errors errors={errors} />
        </div>
        <div className="flex min-w-0 flex-col gap-3 xl:sticky xl:top-8 xl:self-start">
          {curl !== undefined && (
            <DocsCode
              label={`Request: ${summary}`}
              text={curl(serviceOrigin())}
              language="sh"
              isWrapped
            />
          )}
          {example?.response.body !== undefined && (
            <DocsCode
              label={`Answer with ${example.response.status}: ${summary}`}
              text={textOf(example.response.body)}
              language={typeof example.response.body === "string" ? "" : "json"}
            />
          )}
          <TestRequest
            method={method}
            path={path}
            parameters={parameters
              .filter(({ type }) => /in the (path|query)$/.test(type))
              .map(({ name }) => name)}
            body={example?.request.body === undefined ? null : textOf(example.request.body)}
          />
        </div>
      </div>
    </article>
  );
}

const textOf = (body: unknown): string =>
  typeof body === "string" ? body.trimEnd() : JSON.stringify(body, null, 2);

interface FieldsProps {
  readonly title: string;
  readonly note?: string | undefined;
  readonly fields: readonly ReferenceField[];
  /** The request is expanded; the response is long and has an example. */
  readonly isOpen?: boolean;
}

function Fields({ fields, ...props }: FieldsProps) {
  if (fields.length === 0) return null;
  return (
    <Disclosure {...props}>
      <dl className="mt-2 grid gap-x-6 gap-y-2 pl-5 text-sm sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
        {fields.map(({ name, type, isRequired, description }) => (
          <div key={name} className="contents">
            <dt className="min-w-0">
              <code className="font-mono break-words">{name}</code>
              {isRequired && <span className="text-muted-foreground"> required</span>}
            </dt>
            <dd className="min-w-0 break-words">
              <code className="font-mono text-[0.9em] text-muted-foreground">{type}</code>
              {description !== undefined && (
                <p>
                  <Prose text={description} />
                </p>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Disclosure>
  );
}

function Errors({ errors }: { readonly errors: ReferenceOperation["errors"] }) {
  const statuses = [...new Set(errors.map(({ status }) => status))];
  return (
    <Disclosure title="Errors" note={statuses.join(", ")}>
      <table className="mt-2 ml-5 w-[calc(100%-1.25rem)] border-collapse text-left text-sm">
        <thead className="text-xs text-muted-foreground">
          <tr>
            {["Status", "Code", "When"].map((name) => (
              <th key={name} scope="col" className="border-b py-1.5 pr-4 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {errors.map(({ status, code, meaning }) => (
            <tr key={code} className="align-top [&:not(:last-child)>td]:border-b">
              <td className="py-1.5 pr-4 tabular-nums">{status}</td>
              <td className="py-1.5 pr-4">
                <code className="font-mono text-[0.9em]">{code}</code>
              </td>
              <td className="py-1.5 text-muted-foreground">
                <Prose text={meaning} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Disclosure>
  );
}

type DisclosureProps = Omit<FieldsProps, "fields"> & { readonly children: ReactNode };

const Disclosure = ({ title, note, isOpen = false, children }: DisclosureProps) => (
  <details open={isOpen} className="group mt-3 border-t pt-3">
    <summary className="flex items-baseline gap-1.5 rounded-sm text-sm [&::-webkit-details-marker]:hidden">
      <ChevronRight
        aria-hidden
        className="size-3.5 shrink-0 self-center text-muted-foreground transition-transform group-open:rotate-90"
      />
      <span className="font-medium">{title}</span>
      {note !== undefined && (
        <span className="text-muted-foreground">
          <Prose text={note} />
        </span>
      )}
    </summary>
    {children}
  </details>
);
