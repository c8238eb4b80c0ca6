"use client";
import { useEffect, useState, useTransition } from "react";
import { fetchWithBearer } from "../_api/request.ts";
import { Button, SmallButton } from "../_ui/button.tsx";
import { TextareaField, TextField } from "../_ui/form.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";

/** Streams and files may be long: only their beginning is shown. */
const MAX_SHOWN_CHARS = 20_000;

interface Wanted {
  readonly method: string;
  readonly path: string;
  /** Names of the path and query parameters. */
  readonly parameters: readonly string[];
  /** The recorded body, to start from; null where the endpoint takes none. */
  readonly body: string | null;
}

/** Sends a request of the reader's own, as who is signed in or with the API key that was typed. */
export function TestRequest(wanted: Wanted) {
  const [open, setOpen] = useState(false);
  const [ready, setReady] = useState(false);
  // A click on a page that is not hydrated yet would be lost.
  useEffect(() => setReady(true), []);
  return (
    <div className="mt-3">
      <SmallButton
        disabled={!ready}
        aria-expanded={open}
        aria-label={`Send request (${wanted.method.toLowerCase()} ${wanted.path})`}
        onClick={() => setOpen(!open)}
      >
        Send request
      </SmallButton>
      {open && <RequestForm {...wanted} />}
    </div>
  );
}

function RequestForm({ method, path, parameters, body }: Wanted) {
  const [answer, setAnswer] = useState<{ readonly status: string; readonly text: string }>();
  const [busy, start] = useTransition();
  return (
    <form
      className="mt-3 grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        start(async () => setAnswer(await ask(form, { method, path, parameters, body })));
      }}
    >
      {parameters.map((name) => (
        <TextField key={name} label={name} name={name} required={path.includes(`{${name}}`)} />
      ))}
      {body !== null && (
        <TextareaField
          label="Body"
          name="body"
          defaultValue={body}
          rows={6}
          className="[&_textarea]:font-mono"
        />
      )}
      <TextField
        label="API key"
        hint="Leave empty to use your current session."
        name="api-key"
        type="password"
        autoComplete="off"
      />
      <div>
        <Button type="submit" size="sm" busy={busy}>
          Send
        </Button>
      </div>
      <div role="status" className="min-w-0">
        {answer !== undefined && (
          <>
            <p className="font-medium">{answer.status}</p>
            {answer.text !== "" && (
              <ScrollBox label="Answer" className="mt-2 max-h-80 border bg-muted/50">
                <pre className="w-fit min-w-full px-3 py-2.5 font-mono text-[0.8125rem]">
                  {answer.text}
                </pre>
              </ScrollBox>
            )}
          </>
        )}
      </div>
    </form>
  );
}

async function ask(form: FormData, { method, path, parameters, body }: Wanted) {
  const typed = (name: string) => String(form.get(name) ?? "");
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(typed(name)));
  const query = new URLSearchParams(
    parameters
      .filter((name) => !path.includes(`{${name}}`) && typed(name) !== "")
      .map((name) => [name, typed(name)]),
  );
  const key = typed("api-key");
  const headers = {
    ...(body === null ? {} : { "content-type": "application/json" }),
    ...(key === "" ? {} : { "x-api-key": key }),
  };
  const init = { method, headers, ...(body === null ? {} : { body: typed("body") }) };
  const target = query.size === 0 ? address : `${address}?${query}`;
  try {
    // Exactly one credential is accepted, so a typed key replaces the bearer token.
    const response = await (key === "" ? fetchWithBearer(target, init) : fetch(target, init));
    const type = response.headers.get("content-type") ?? "";
    const text = /json|text/.test(type) ? await response.text() : `(${type})`;
    return { status: `${response.status} ${response.statusText}`.trim(), text: pretty(text) };
  } catch {
    return { status: "The service cannot be reached", text: "" };
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, MAX_SHOWN_CHARS);
  } catch {
    return text.slice(0, MAX_SHOWN_CHARS);
  }
}
