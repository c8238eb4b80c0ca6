"use client";
import { type FormEvent, useState } from "react";
import {
  connectService,
  describeConnectError,
} from "@/app/(console)/connectors/connect-service.ts";
import { Button } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";

/** The form for a service that the page does not list. */
export function Connect({ accountId }: { readonly accountId: string | null }) {
  const [slug, setSlug] = useState("");
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setErrorText(undefined);
    const error = await connectService(slug.trim().toLowerCase(), accountId);
    // The button stays busy while the browser leaves this page.
    if (error === null) return;
    setBusy(false);
    setErrorText(describeConnectError(error));
  };
  return (
    <Card>
      <form onSubmit={(event) => void submit(event)} className="flex flex-wrap items-start gap-3">
        <Field
          label="Service"
          error={errorText}
          hint="The short name of the service, such as bandcamp."
          className="min-w-52 flex-1 max-sm:basis-full"
        >
          {(ids) => (
            <Input
              {...ids}
              required
              maxLength={64}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={slug}
              onChange={(event) => setSlug(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" variant="outline" busy={busy} className="sm:mt-6.5">
          Connect
        </Button>
      </form>
    </Card>
  );
}
