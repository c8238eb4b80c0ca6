import type { ReactNode } from "react";
import type { FormState } from "../_hooks/use-form.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { Form } from "./form.tsx";
import { ErrorState } from "./states.tsx";

const noRequest = { ref: { current: null }, busy: false, formError: null };

/** A dialog with a form, "Cancel", and a button that submits. */
export const FormDialog = ({
  title,
  description,
  className,
  form: { ref, busy, formError } = noRequest,
  submit,
  isComplete = true,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly className?: string;
  /** Sends the values; absent if the page only applies them. */
  readonly form?: Pick<FormState<object>, "ref" | "busy" | "formError">;
  readonly submit: string;
  readonly isComplete?: boolean;
  readonly onSubmit: () => unknown;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => (
  <Dialog {...{ title, description, onClose }} className={className}>
    <Form ref={ref} noValidate onSubmit={onSubmit} className="flex flex-col gap-4">
      {formError !== null && <ErrorState error={formError} />}
      {children}
      <DialogActions>
        <Button variant="outline" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" busy={busy} disabled={!isComplete}>
          {submit}
        </Button>
      </DialogActions>
    </Form>
  </Dialog>
);
