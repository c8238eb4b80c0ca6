"use client";
import { type FormEvent, useState } from "react";
import { type ApiError, api } from "@/app/(console)/_api/request.ts";
import { Button } from "../_ui/button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { Select } from "../_ui/select.tsx";
import type { CreatedKey } from "./key-types.ts";

const lifetimes = [
  { days: null, label: "Never" },
  { days: 7, label: "In 7 days" },
  { days: 30, label: "In 30 days" },
  { days: 90, label: "In 90 days" },
  { days: 365, label: "In 1 year" },
] as const;

const describeKeyError = ({ fields, message }: ApiError): string =>
  fields.includes("key_name") ? "Enter a name of 1 to 100 characters, on one line." : message;

export function CreateKey({
  suggestedName,
  onCreated,
  onClose,
}: {
  readonly suggestedName: string;
  readonly onCreated: (key: CreatedKey) => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(suggestedName);
  const [days, setDays] = useState("");
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await api<CreatedKey>("/api/keys", {
      body: { key_name: name, ...(days === "" ? {} : { expires_in_days: Number(days) }) },
    });
    setBusy(false);
    if (!result.ok) return setErrorText(describeKeyError(result.error));
    onClose();
    onCreated(result.data);
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Create key">
      <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        <Field
          label="Name"
          hint="For example, where the key will be used: “release script”."
          error={errorText}
        >
          {(ids) => (
            <Input
              {...ids}
              maxLength={100}
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Expires">
          {(ids) => (
            <Select {...ids} value={days} onChange={(event) => setDays(event.target.value)}>
              {lifetimes.map((one) => (
                <option key={one.label} value={one.days ?? ""}>
                  {one.label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <DialogActions>
          <Button variant="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={busy}>
            Create key
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
