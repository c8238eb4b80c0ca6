"use client";
/** The dialogs that create a trigger and show its secret. */
import type { createTriggerContract, Signature } from "@/lib/triggers/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useForm } from "../_hooks/use-form.ts";
import { Button } from "../_ui/button.tsx";
import { CopyableText } from "../_ui/copy-button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import { SelectField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";

const senders = [
  { value: "", label: "Any program, with a secret" },
  { value: "standard", label: "Standard Webhooks" },
  { value: "github", label: "GitHub" },
  { value: "slack", label: "Slack" },
] as const;

/** Returns the name of those who send events with a signature. */
export const senderOf = (signature: Signature | null): string =>
  senders.find(({ value }) => value === (signature ?? ""))?.label ?? "";

type Created = Answer<typeof createTriggerContract>;

interface CreateTriggerProps {
  readonly path: string;
  readonly onCreated: (trigger: Created) => void;
  readonly onClose: () => void;
}

/** A dialog to create a trigger. */
export function CreateTrigger({ path, onCreated, onClose }: CreateTriggerProps) {
  const form = useForm(
    { signature: "", secret: "" },
    { secret: "Enter the secret as the sender has it: at least 16 characters." },
  );
  const { signature, secret } = form.values;
  const submit = async () => {
    const body = {
      kind: "webhook",
      ...(signature !== "" && { signature }),
      ...(signature !== "" && secret !== "" && { secret }),
    };
    const result = await form.send<Created>(path, { body });
    if (!result.ok) return;
    onClose();
    onCreated(result.data);
  };
  return (
    <FormDialog
      title="Create trigger"
      submit="Create trigger"
      {...{ form, onClose }}
      onSubmit={submit}
    >
      <SelectField label="Sender" options={senders} {...form.field("signature")} />
      {signature !== "" && (
        <TextField
          label={signature === "slack" ? "Signing secret" : "Secret (optional)"}
          hint={
            signature === "slack"
              ? "From “Basic Information” of the Slack app."
              : "Leave it empty to get a new one."
          }
          maxLength={200}
          autoComplete="off"
          {...form.field("secret")}
        />
      )}
    </FormDialog>
  );
}

interface NewTriggerProps {
  readonly created: Created;
  readonly onClose: () => void;
}

/** Shows the secret of a new trigger, for the only time, and a command that sends an event. */
export function NewTrigger({ created, onClose }: NewTriggerProps) {
  const { url, secret, signature } = created;
  const line = `curl ${url} -H 'authorization: Bearer ${secret}' -H 'content-type: application/json' -d '{"hello":"world"}'`;
  return (
    <Dialog
      onClose={onClose}
      title="Trigger created"
      description="Copy the secret now. You will not be able to see it again."
    >
      <h3 className="text-sm font-medium">URL</h3>
      <CopyableText label="URL" text={url} />
      <h3 className="mt-4 text-sm font-medium">Secret</h3>
      <CopyableText label="secret" text={secret} />
      {signature === null && (
        <>
          <h3 className="mt-4 text-sm font-medium">Try it in a terminal</h3>
          <CopyableText label="command" text={line} />
        </>
      )}
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  );
}
