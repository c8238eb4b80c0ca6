"use client";
import { type FormEvent, useState } from "react";
import type { Me } from "../_hooks/shared-reads.ts";
import { useFocusFirstError } from "../_hooks/use-focus-first-error.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { Button } from "../_ui/button.tsx";
import { SectionCard } from "../_ui/card.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { Select } from "../_ui/select.tsx";
import { TimeZoneOptions } from "../_ui/time-zone-options.tsx";
import { toast } from "../_ui/toast.tsx";

/** The name, the picture, the time zone and the monthly budget of the account. */
export function ProfileForm({ account }: { readonly account: Me["account"] }) {
  const [name, setName] = useState(account.name ?? "");
  const [image, setImage] = useState(account.image ?? "");
  const [timezone, setTimezone] = useState(account.timezone ?? "");
  const [budget, setBudget] = useState(account.monthly_budget_usd?.toString() ?? "");
  const { send, busy, error } = useSubmit<Me>();
  const form = useFocusFirstError(error);
  const isInvalid = (field: string) => error?.fields.includes(field) ?? false;
  const known = ["name", "image", "timezone", "monthly_budget_usd"].some(isInvalid);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await send("/api/accounts/me", {
      method: "PATCH",
      body: {
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        image: image.trim() === "" ? null : image.trim(),
        timezone: timezone === "" ? null : timezone,
        monthly_budget_usd: budget.trim() === "" ? null : Number(budget),
      },
    });
    if (result.ok) toast("Your changes were saved.");
  };
  return (
    <SectionCard
      title="Profile"
      description="Members of your organizations see your name and picture."
    >
      <form ref={form} onSubmit={(event) => void submit(event)} className="flex flex-col gap-5">
        <Field label="Email" hint="You sign in with this address. It cannot be changed.">
          {(ids) => <Input {...ids} readOnly value={account.email ?? ""} className="bg-muted" />}
        </Field>
        <Field
          label="Name"
          error={
            isInvalid("name") ? "Enter a name of at most 100 characters, on one line." : undefined
          }
        >
          {(ids) => (
            <Input
              {...ids}
              maxLength={100}
              autoComplete="name"
              placeholder="Maya Lindqvist"
              required={account.name !== null}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Picture address"
          hint="Optional: where your picture is on the web."
          error={isInvalid("image") ? "Enter an address that begins with https://." : undefined}
        >
          {(ids) => (
            <Input
              {...ids}
              inputMode="url"
              maxLength={2048}
              autoComplete="photo"
              placeholder="https://"
              value={image}
              onChange={(event) => setImage(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Time zone"
          hint="Where new schedules start from."
          error={isInvalid("timezone") ? "Choose a time zone." : undefined}
        >
          {(ids) => (
            <Select {...ids} value={timezone} onChange={(event) => setTimezone(event.target.value)}>
              <option value="">The time zone of the browser</option>
              <TimeZoneOptions chosen={timezone} />
            </Select>
          )}
        </Field>
        <Field
          label="Monthly budget in USD"
          hint="Agents stop when a calendar month has cost this much. Empty means no limit."
          error={
            isInvalid("monthly_budget_usd")
              ? "Enter an amount of 0 or more, such as 50."
              : undefined
          }
        >
          {(ids) => (
            <Input
              {...ids}
              type="number"
              min={0}
              max={1_000_000_000}
              step="any"
              inputMode="decimal"
              className="max-w-48"
              value={budget}
              onChange={(event) => setBudget(event.target.value)}
            />
          )}
        </Field>
        {error !== null && !known && (
          <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger-text">
            {error.message}
          </p>
        )}
        <div>
          <Button type="submit" busy={busy}>
            Save changes
          </Button>
        </div>
      </form>
    </SectionCard>
  );
}
