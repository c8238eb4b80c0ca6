"use client";
import { Button } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import type { CreatedKey } from "./key-types.ts";

/** Shows a new key in full, for the only time, and a command that uses it. */
export function NewKey({
  created,
  onClose,
}: {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}) {
  const line = `curl ${location.origin}/api/sessions -H 'x-api-key: ${created.key}' -d '{"title":"First"}'`;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Key “${created.key_name}”`}
      description="Copy this key now. You will not be able to see it again."
    >
      <Secret label="key" text={created.key} />
      <h3 className="mt-5 text-sm font-medium">Try it</h3>
      <Secret label="command" text={line} />
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  );
}

function Secret({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div className="mt-1.5 flex items-start gap-2">
      <code className="min-w-0 flex-1 rounded-md border bg-muted px-3 py-2 font-mono text-sm break-all">
        {text}
      </code>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}
