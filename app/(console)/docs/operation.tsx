import type { ReferenceField, ReferenceOperation } from "@/lib/openapi/reference.ts";
import { Badge } from "../_ui/badge.tsx";
import { DocsCode } from "./_content/docs-code.tsx";
import { Prose } from "./prose.tsx";
import { TestRequest } from "./test-request.tsx";

const authentication = {
  required: "Needs a credential",
  optional: "Credential optional",
  none: "No credential",
};

/** One endpoint: what it does, what it takes, what it answers, and a recorded exchange. */
export function Operation({ operation }: { readonly operation: ReferenceOperation }) {
  const { id, contract, description, parameters, body, answers, example, curl } = operation;
  const { method, path, summary, auth } = contract;
  return (
    <article id={id} aria-label={summary} className="scroll-mt-6 border-t py-8">
      <h2 className="text-lg font-semibold tracking-tight">
        <a href={`#${id}`} className="hover:underline">
          {summary}
        </a>
      </h2>
      <p className="mt-1 flex flex-wrap items-center gap-2">
        <Badge tone="accent">{method}</Badge>
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
          <Fields title="Parameters" fields={parameters} />
          <Fields title="Body" fields={body} />
          {answers.map(({ status, description: meaning, fields }) => (
            <Fields key={status} title={`Answer ${status}`} note={meaning} fields={fields} />
          ))}
          <ul className="mt-3 flex flex-col gap-1 border-t pt-3 text-sm text-muted-foreground">
            {answers
              .filter(({ fields }) => fields.length === 0)
              .map(({ status, description: meaning }) => (
                <li key={status}>
                  {status}: <Prose text={meaning} />
                </li>
              ))}
          </ul>
        </div>
        <div className="flex min-w-0 flex-col gap-3 xl:sticky xl:top-8 xl:self-start">
          {curl !== undefined && (
            <DocsCode label={`Request: ${summary}`} text={curl} language="sh" isWrapped />
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

function Fields({
  title,
  note,
  fields,
}: {
  readonly title: string;
  readonly note?: string;
  readonly fields: readonly ReferenceField[];
}) {
  if (fields.length === 0) return null;
  return (
    <details className="mt-3 border-t pt-3">
      <summary className="cursor-pointer text-sm">
        <span className="font-medium">{title}</span>{" "}
        {note !== undefined && (
          <span className="text-muted-foreground">
            <Prose text={note} />
          </span>
        )}
      </summary>
      <dl className="mt-2 grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
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
    </details>
  );
}
