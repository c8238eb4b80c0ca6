import type { ReferenceField, ReferenceOperation } from "@/lib/openapi/reference.ts";
import { Badge } from "../_ui/badge.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { Prose } from "./prose.tsx";
import { TestRequest } from "./test-request.tsx";

const authentication = {
  required: "Needs a credential",
  optional: "Credential optional",
  none: "No credential",
};

/** One endpoint: what it does, what it takes, what it answers, and a recorded exchange. */
export function Operation({ operation }: { readonly operation: ReferenceOperation }) {
  const { anchor, contract, description, parameters, body, answers, example, curl } = operation;
  const { method, path, summary, auth } = contract;
  return (
    <article
      id={anchor}
      aria-label={summary}
      className="mt-5 scroll-mt-4 rounded-xl border bg-surface p-4 sm:p-5"
    >
      <h3 className="font-semibold">{summary}</h3>
      <p className="mt-1 flex flex-wrap items-center gap-2">
        <Badge tone="accent">{method}</Badge>
        <code className="min-w-0 font-mono text-sm break-all">{path}</code>
        <span className="text-sm text-muted-foreground">{authentication[auth]}</span>
      </p>
      {description !== undefined && (
        <p className="mt-3 max-w-prose">
          <Prose text={description} />
        </p>
      )}
      <Fields title="Parameters" fields={parameters} />
      <Fields title="Body" fields={body} />
      {answers.map(({ status, description: meaning, fields }) => (
        <Fields key={status} title={`Answer ${status}`} note={meaning} fields={fields} />
      ))}
      <ul className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted-foreground">
        {answers
          .filter(({ fields }) => fields.length === 0)
          .map(({ status, description: meaning }) => (
            <li key={status}>
              {status}: <Prose text={meaning} />
            </li>
          ))}
      </ul>
      {curl !== undefined && <Code label={`Request: ${summary}`} text={curl} wrap />}
      {example?.response.body !== undefined && (
        <Code
          label={`Answer with ${example.response.status}: ${summary}`}
          text={textOf(example.response.body)}
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

function Code({
  label,
  text,
  wrap = false,
}: {
  readonly label: string;
  readonly text: string;
  readonly wrap?: boolean;
}) {
  return (
    <div className="relative mt-3 min-w-0 rounded-lg border bg-muted/50">
      <CopyButton
        text={text}
        label={`Copy ${label}`}
        variant="ghost"
        className="absolute top-1 right-1 z-10 size-7 [&_svg]:size-3.5"
      />
      <ScrollBox label={label} className="max-h-60">
        <pre
          className={`py-2.5 pr-10 pl-3 font-mono text-[0.8125rem] leading-normal ${wrap ? "break-all whitespace-pre-wrap" : "w-fit min-w-full"}`}
        >
          {text}
        </pre>
      </ScrollBox>
    </div>
  );
}
