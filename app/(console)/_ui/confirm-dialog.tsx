"use client";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog, DialogActions, DialogClose } from "./dialog.tsx";

/**
 * A dialog before an irreversible action. "Cancel" has the focus, so that Enter does no harm. It closes if
 * `onConfirm` resolves to null, and otherwise shows the text as its error.
 */
export function ConfirmDialog({
  title,
  description,
  confirm,
  trigger,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly description: ReactNode;
  /** The label of the button, such as "Revoke". */
  readonly confirm: string;
  /** Opens the dialog. Without one, it is open from the start. */
  readonly trigger?: ReactNode;
  readonly onConfirm: () => Promise<string | null>;
  readonly onClose?: () => void;
}) {
  const [open, setOpen] = useState(trigger === undefined);
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | null>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const isDone = useRef(false);
  useEffect(
    () => () => {
      // The button that opened the dialog is mostly gone with what was deleted, and the focus with it.
      const isLost = isDone.current && document.activeElement === document.body;
      if (isLost) document.getElementById("main")?.focus({ preventScroll: true });
    },
    [],
  );
  const change = (next: boolean) => {
    setOpen(next);
    setErrorText(null);
    if (!next) onClose?.();
  };
  const run = async () => {
    setBusy(true);
    const failure = await onConfirm();
    setBusy(false);
    isDone.current = failure === null;
    if (isDone.current) change(false);
    else setErrorText(failure);
  };
  return (
    <Dialog
      role="alertdialog"
      title={title}
      description={description}
      trigger={trigger}
      open={open}
      initialFocus={cancel}
      onOpenChange={change}
    >
      {errorText !== null && (
        <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger-text">
          {errorText}
        </p>
      )}
      <DialogActions>
        <DialogClose asChild>
          <Button ref={cancel} variant="outline">
            Cancel
          </Button>
        </DialogClose>
        <Button variant="danger" busy={busy} onClick={() => void run()}>
          {confirm}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
