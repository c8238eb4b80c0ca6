"use client";
import { type FormEvent, useId, useState } from "react";
import type { z } from "zod";
import { type ApiError, api } from "@/app/(console)/_api/request.ts";
import type { createConnectionContract } from "@/lib/connectors/contract.ts";
import { Button } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";

type Started = z.output<(typeof createConnectionContract.responses)[200]["schema"]>;

/** Suggestions; any other slug can be typed. */
const suggestions = [
  "gmail",
  "googlecalendar",
  "googledrive",
  "googlesheets",
  "instagram",
  "mailchimp",
  "notion",
  "slack",
  "soundcloud",
  "tiktok",
  "twitter",
  "youtube",
] as const;

const returnUrl = (): string => `${location.origin}/connectors`;

/** The API accepts only these origins as callbacks, and otherwise returns to its configured one. */
const canReturnHere = (): boolean =>
  location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

function describeConnectError({ code, fields, message }: ApiError): string {
  if (code === "not_found") return "This service is not available. Check its name.";
  return fields.includes("connector")
    ? "Enter the short name of a service: letters, digits, hyphens and underscores."
    : message;
}

/** The form to connect a service. Its consent page leads back to this page. */
export function Connect() {
  const [slug, setSlug] = useState("");
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | undefined>();
  const list = useId();
  const connect = async (connector: string) => {
    setBusy(true);
    setErrorText(undefined);
    const result = await api<Started>("/api/connectors", {
      body: { connector, ...(canReturnHere() ? { callback_url: returnUrl() } : {}) },
    });
    // The button stays busy while the browser leaves this page.
    if (result.ok) return location.assign(result.data.data.redirectUrl);
    setBusy(false);
    setErrorText(describeConnectError(result.error));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void connect(slug.trim().toLowerCase());
  };
  return (
    <Card>
      <form onSubmit={submit} className="flex flex-wrap items-start gap-3">
        <Field
          label="Service"
          error={errorText}
          hint="The short name of the service, such as gmail."
          className="min-w-52 flex-1 max-sm:basis-full"
        >
          {(ids) => (
            <Input
              {...ids}
              required
              maxLength={64}
              list={list}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={slug}
              onChange={(event) => setSlug(event.target.value)}
            />
          )}
        </Field>
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Button type="submit" busy={busy} className="sm:mt-6.5">
          Connect
        </Button>
      </form>
      <ul aria-label="Suggestions" className="mt-3 flex flex-wrap gap-1.5">
        {suggestions.map((one) => (
          <li key={one}>
            <Button variant="outline" size="sm" disabled={busy} onClick={() => setSlug(one)}>
              {one}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
