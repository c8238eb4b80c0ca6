"use client";
import { type FormEvent, useState } from "react";
import { type ApiError, api } from "@/app/(console)/_api/request.ts";
import { Button } from "../_ui/button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import { Field } from "../_ui/field.tsx";
import { Select } from "../_ui/select.tsx";
import type { CreatedKey, ListedKey } from "./key-types.ts";

const graces = [
  { seconds: 0, label: "Immediately" },
  { seconds: 600, label: "After 10 minutes" },
  { seconds: 3_600, label: "After 1 hour" },
  { seconds: 86_400, label: "After 1 day" },
] as const;

const describeRotateError = ({ code, message }: ApiError): string =>
  code === "conflict" ? "This key has already been rotated." : message;

/** A dialog to replace a key. The old key can keep working while programs are switched over. */
export function RotateKey({
  known,
  onRotated,
  onClose,
}: {
  readonly known: ListedKey;
  readonly onRotated: (key: CreatedKey) => void;
  readonly onClose: () => void;
}) {
  const [grace, setGrace] = useState("3600");
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await api<CreatedKey>(`/api/keys/${known.id}/rotate`, {
      body: { grace_seconds: Number(grace) },
    });
    setBusy(false);
    if (!result.ok) return setErrorText(describeRotateError(result.error));
    onClose();
    onRotated(result.data);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Rotate “${known.key_name}”`}
      description="This creates a new key with the same name and expiry."
    >
      <form onSubmit={(event) => void submit(event)}>
        <Field label="The old key stops working" error={errorText}>
          {(ids) => (
            <Select {...ids} value={grace} onChange={(event) => setGrace(event.target.value)}>
              {graces.map((one) => (
                <option key={one.seconds} value={one.seconds}>
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
            Rotate
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
