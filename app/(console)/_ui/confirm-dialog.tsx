"use client";
import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog, DialogActions, DialogClose } from "./dialog.tsx";

/** Asks before what cannot be undone. It closes when `onConfirm` gives null; a text is its error. */
export function ConfirmDialog({
  title,
  description,
  confirm,
  trigger,
  onConfirm,
}: {
  readonly title: string;
  readonly description: ReactNode;
  /** What the button says: the verb, such as "Revoke". */
  readonly confirm: string;
  readonly trigger: ReactNode;
  readonly onConfirm: () => Promise<string | null>;
}) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const run = async () => {
    setBusy(true);
    const said = await onConfirm();
    setBusy(false);
    setFault(said);
    if (said === null) setOpen(false);
  };
  return (
    <Dialog
      title={title}
      description={description}
      trigger={trigger}
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        setFault(null);
      }}
    >
      {fault !== null && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger-text">
          {fault}
        </p>
      )}
      <DialogActions>
        <DialogClose asChild>
          <Button variant="outline">Cancel</Button>
        </DialogClose>
        <Button variant="danger" busy={busy} onClick={() => void run()}>
          {confirm}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
