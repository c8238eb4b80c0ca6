import { Dialog as Base } from "radix-ui";
import {
  type ComponentProps,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from "react";
import { Button } from "./button.tsx";
import { cn } from "./class-names.ts";
import { X } from "./icons.tsx";
import { ErrorNote } from "./states.tsx";

export const DialogClose = Base.Close;

/** A modal dialog. It is open until `onClose`, or controlled by `open` and `onOpenChange`, or opened by `trigger`. */
export function Dialog({
  title,
  description,
  trigger,
  onClose,
  open = onClose && true,
  onOpenChange = onClose && ((next) => !next && onClose()),
  role = "dialog",
  isSheet = false,
  className,
  initialFocus,
  children,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly trigger?: ReactNode;
  readonly onClose?: (() => void) | undefined;
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
  /** An alert dialog has its description read aloud as it opens. */
  readonly role?: "dialog" | "alertdialog";
  /** Whether it is a panel for details at the right edge, as wide as the screen on a phone. */
  readonly isSheet?: boolean;
  readonly className?: string | undefined;
  /** Receives the focus when the dialog opens. Default: its first field or its primary action. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}) {
  const focus = useFocusReturn();
  const body = useRef<HTMLDivElement>(null);
  return (
    <Base.Root
      {...(open === undefined ? {} : { open })}
      {...(onOpenChange === undefined ? {} : { onOpenChange })}
    >
      {trigger !== undefined && <Base.Trigger asChild>{trigger}</Base.Trigger>}
      <Base.Portal>
        <Base.Overlay className="fixed inset-0 z-40 bg-black/45 backdrop-blur-[1px]" />
        <Base.Content
          role={role}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
          onOpenAutoFocus={(event) => {
            focus.onOpenAutoFocus();
            event.preventDefault();
            // The arrow keys scroll the details of a sheet.
            const target = isSheet ? null : (initialFocus?.current ?? firstControl(body.current));
            (target ?? body.current)?.focus({ preventScroll: true });
          }}
          {...(trigger === undefined ? { onCloseAutoFocus: focus.onCloseAutoFocus } : {})}
          className={cn(
            "fixed z-50 border bg-surface shadow-xl animate-appear",
            isSheet
              ? "inset-y-0 right-0 flex w-full max-w-xl flex-col border-y-0 border-r-0"
              : "top-[12vh] left-1/2 max-h-[80vh] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 overflow-y-auto rounded-xl p-5 max-sm:top-4 max-sm:max-h-[calc(100dvh-2rem)]",
            className,
          )}
        >
          <div
            className={cn(
              "flex justify-between gap-4",
              isSheet ? "h-13 shrink-0 items-center border-b px-5" : "items-start",
            )}
          >
            <Base.Title
              className={isSheet ? "truncate font-semibold" : "text-lg font-semibold break-words"}
            >
              {title}
            </Base.Title>
            <Base.Close
              aria-label="Close"
              className="-mr-1 grid size-7 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-hover"
            >
              <X aria-hidden className="size-4" />
            </Base.Close>
          </div>
          {description !== undefined && (
            <Base.Description asChild>
              <div className="mt-1 text-muted-foreground">{description}</div>
            </Base.Description>
          )}
          <div
            ref={body}
            tabIndex={-1}
            className={cn("outline-none", isSheet ? "min-h-0 flex-1 overflow-y-auto p-5" : "mt-4")}
          >
            {children}
          </div>
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog, in view however long it is; the last one is the primary action. */
export const DialogActions = ({ children }: { readonly children: ReactNode }) => (
  <div
    data-dialog-actions
    className="sticky -bottom-5 -mx-5 mt-2 -mb-5 flex flex-wrap justify-end gap-2 rounded-b-xl bg-surface px-5 pt-3 pb-5"
  >
    {children}
  </div>
);

const FIELDS = "input:not([type=hidden]), textarea, select, [role=combobox]";

/**
 * Returns the element that receives the focus when a dialog opens: the first field, or else the
 * primary action.
 */
function firstControl(body: HTMLElement | null): HTMLElement | null {
  if (body === null) return null;
  const find = (selector: string) =>
    [...body.querySelectorAll<HTMLElement>(selector)].filter(
      (element) => !element.matches(":disabled, [tabindex='-1']") && element.checkVisibility(),
    );
  const [field] = find(FIELDS);
  const [control] = find("button, a[href], [tabindex]");
  return field ?? find("[data-dialog-actions] button").at(-1) ?? control ?? null;
}

/**
 * Returns handlers for a dialog without a trigger, which restore the previous focus. Radix restores
 * it to a trigger only.
 */
export function useFocusReturn() {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus: () => {
      before.current = document.activeElement;
    },
    onCloseAutoFocus: (event: Event) => {
      const element = before.current;
      // Some browsers do not focus a button that is clicked.
      if (!(element instanceof HTMLElement) || element === document.body) return;
      if (!element.isConnected) return;
      event.preventDefault();
      element.focus({ preventScroll: true });
    },
  };
}

/**
 * A dialog before an irreversible action. "Cancel" has the focus, so Enter does no harm. The dialog closes
 * if `onConfirm` resolves to null, then calls `onDone`; otherwise it shows the text as its error.
 */
export function ConfirmDialog({
  title,
  description,
  confirm,
  button,
  onConfirm,
  onDone,
  onClose,
}: {
  readonly title: string;
  readonly description: ReactNode;
  readonly confirm: string;
  /** The button that opens the dialog, with the same text by default. Without one, it is open from the start. */
  readonly button?: ComponentProps<typeof Button>;
  readonly onConfirm: () => Promise<string | null>;
  readonly onDone?: () => void;
  readonly onClose?: () => void;
}) {
  const [open, setOpen] = useState(button === undefined);
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | null>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const isDone = useRef(false);
  useEffect(
    () => () => {
      // Deleting usually removes the trigger, which would lose the focus.
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
    if (failure !== null) return setErrorText(failure);
    onDone?.();
    change(false);
  };
  return (
    <Dialog
      role="alertdialog"
      title={title}
      description={description}
      trigger={
        button && (
          <Button variant="danger-ghost" {...button}>
            {button.children ?? confirm}
          </Button>
        )
      }
      open={open}
      initialFocus={cancel}
      onOpenChange={change}
    >
      <ErrorNote>{errorText}</ErrorNote>
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
