"use client";
import { type FormEvent, useId, useState } from "react";
import type { z } from "zod";
import { api } from "@/app/(console)/_hooks/api.ts";
import type { createConnectionContract } from "@/lib/connectors/contract.ts";
import { Button } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";

type Started = z.output<(typeof createConnectionContract.responses)[200]["schema"]>;

/** Slugs that the providers know; any other may be typed. */
const known = [
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

/** By another name of this service than its configured one, if the API takes that as a callback. */
const mayReturnHere = (): boolean =>
  location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** Choose a service, agree there, come back. */
export function Connect() {
  const [slug, setSlug] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | undefined>();
  const list = useId();
  const connect = async (connector: string) => {
    setBusy(true);
    setFault(undefined);
    const result = await api<Started>("/api/connectors", {
      body: { connector, ...(mayReturnHere() ? { callback_url: returnUrl() } : {}) },
    });
    // The page is about to go: the button stays busy.
    if (result.ok) return location.assign(result.data.data.redirectUrl);
    setBusy(false);
    setFault(result.error.message);
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
          error={fault}
          hint="Its short name, such as gmail."
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
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Button type="submit" busy={busy} className="sm:mt-6.5">
          Connect
        </Button>
      </form>
      <ul aria-label="Often connected" className="mt-3 flex flex-wrap gap-1.5">
        {known.map((one) => (
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
