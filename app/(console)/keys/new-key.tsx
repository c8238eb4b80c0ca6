"use client";
import { Button } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import type { CreatedKey } from "./key-types.ts";

/** The whole key, the only time that anybody sees it, and a line that uses it. */
export function NewKey({
  made,
  onClose,
}: {
  readonly made: CreatedKey;
  readonly onClose: () => void;
}) {
  const line = `curl ${location.origin}/api/sessions -H 'x-api-key: ${made.key}' -d '{"title":"First"}'`;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Key “${made.key_name}”`}
      description="Copy it now: only its fingerprint is stored, so it cannot be shown again."
    >
      <Secret label="Key" text={made.key} />
      <h3 className="mt-5 text-sm font-medium">Try it</h3>
      <Secret label="Command" text={line} />
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
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}
