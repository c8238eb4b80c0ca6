"use client";
/** The dialogs that create a key, show it, and replace it. */
import { CircleCheck, LoaderCircle } from "lucide-react";
import Link from "next/link";
import { type CreatedKey, type KeyList, type ListedKey, useKeys } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { Button } from "../_ui/button.tsx";
import { CopyableText } from "../_ui/copy-button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import { SelectField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";

const lifetimes = [
  { value: "", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
] as const;

interface CreateKeyProps {
  readonly suggestedName: string;
  readonly onCreated: (key: CreatedKey) => void;
  readonly onClose: () => void;
}

/** A dialog to create a key. */
export function CreateKey({ suggestedName, onCreated, onClose }: CreateKeyProps) {
  const form = useForm(
    { key_name: suggestedName, days: "" },
    { key_name: "Enter a name of 1 to 100 characters, on one line." },
  );
  const submit = async () => {
    const { key_name, days } = form.values;
    const body = { key_name, ...(days !== "" && { expires_in_days: Number(days) }) };
    const result = await form.send<CreatedKey>("/api/keys", { body });
    if (!result.ok) return;
    onClose();
    onCreated(result.data);
  };
  return (
    <FormDialog title="Create key" submit="Create key" {...{ form, onClose }} onSubmit={submit}>
      <TextField
        label="Name"
        hint="For example, where the key will be used: “release script”."
        maxLength={100}
        autoComplete="off"
        {...form.field("key_name")}
      />
      <SelectField label="Expires" options={lifetimes} {...form.field("days")} />
    </FormDialog>
  );
}

interface NewKeyProps {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}

/** Shows a new key in full, for the only time, and a command that uses it. */
export function NewKey({ created, onClose }: NewKeyProps) {
  const prompt = "Plan: approve the masters, send the artwork, pitch the playlists";
  const line = `curl ${location.origin}/api/chat/runs -H 'x-api-key: ${created.key}' -d '{"prompt":"${prompt}"}'`;
  const isUsed = useIsKeyUsed(created.id);
  return (
    <Dialog
      onClose={onClose}
      title={`Key “${created.key_name}”`}
      description="Copy this key now. You will not be able to see it again."
    >
      <CopyableText label="key" text={created.key} />
      <h3 className="mt-5 text-sm font-medium">Try it in a terminal</h3>
      <p className="text-sm text-muted-foreground">
        This starts a new chat. You'll find the answer in your chat list.
      </p>
      <CopyableText label="command" text={line} />
      <p role="status" className="mt-3 flex items-center gap-2 text-sm text-muted-foreground">
        {isUsed ? (
          <>
            <CircleCheck aria-hidden className="size-4 text-success-text" />
            <span>
              The key works: its first request has arrived.{" "}
              <Link href="/chat" className="text-accent-text underline-offset-4 hover:underline">
                Open chats
              </Link>
            </span>
          </>
        ) : (
          <>
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
            Waiting for the first request with this key…
          </>
        )}
      </p>
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  );
}

/** Whether a request with the key has arrived. */
function useIsKeyUsed(id: string): boolean {
  const isUsed = (data: KeyList | undefined) =>
    data?.keys.some((key) => key.id === id && key.last_used_at !== null) ?? false;
  return isUsed(useKeys(true, (data) => !isUsed(data) && 2_000).data);
}

const graces = [
  { value: "0", label: "Immediately" },
  { value: "600", label: "After 10 minutes" },
  { value: "3600", label: "After 1 hour" },
  { value: "86400", label: "After 1 day" },
] as const;

interface RotateKeyProps {
  readonly known: ListedKey;
  readonly onRotated: (key: CreatedKey) => void;
  readonly onClose: () => void;
}

/** A dialog to replace a key. The old key can keep working while programs are switched over. */
export function RotateKey({ known, onRotated, onClose }: RotateKeyProps) {
  const form = useForm({ grace: "3600" });
  const { error } = form;
  const submit = async () => {
    const body = { grace_seconds: Number(form.values.grace) };
    const result = await form.send<CreatedKey>(`/api/keys/${known.id}/rotate`, { body });
    if (!result.ok) return;
    onClose();
    onRotated(result.data);
  };
  return (
    <FormDialog
      title={`Rotate “${known.key_name}”`}
      description="This creates a new key with the same name and expiry."
      submit="Rotate"
      form={{ ...form, formError: null }}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label="The old key stops working"
        options={graces}
        {...form.field("grace")}
        error={error?.code === "conflict" ? "This key has already been rotated." : error?.message}
      />
    </FormDialog>
  );
}
