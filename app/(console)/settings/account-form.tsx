import type { ReactNode } from "react";
import type { FormState } from "../_hooks/use-form.ts";
import { Button } from "../_ui/button.tsx";
import { Form } from "../_ui/form.tsx";
import { ErrorNote } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";

interface AccountFormProps {
  readonly form: Pick<FormState<object>, "ref" | "send" | "busy" | "formError">;
  /** Returns the fields of `PATCH /api/accounts/me` that the form changes. */
  readonly bodyOf: () => object;
  readonly save: string;
  readonly children: ReactNode;
}

export function AccountForm({ form, bodyOf, save, children }: AccountFormProps) {
  const submit = async () => {
    const result = await form.send("/api/accounts/me", { method: "PATCH", body: bodyOf() });
    if (result.ok) toast("Your changes were saved.");
  };
  return (
    <Form ref={form.ref} onSubmit={submit} className="flex flex-col gap-5">
      {children}
      <ErrorNote>{form.formError?.message ?? null}</ErrorNote>
      <div>
        <Button type="submit" busy={form.busy}>
          {save}
        </Button>
      </div>
    </Form>
  );
}
