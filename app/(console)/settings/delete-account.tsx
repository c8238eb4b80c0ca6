"use client";
import { type FormEvent, useRef } from "react";
import type { ApiError } from "../_api/request.ts";
import { useForm } from "../_hooks/use-form.ts";
import { signOut } from "../_session/auth.ts";
import { Button } from "../_ui/button.tsx";
import { SectionCard } from "../_ui/card.tsx";
import { Dialog, DialogActions, DialogClose } from "../_ui/dialog.tsx";
import { TextField } from "../_ui/form.tsx";

const explain = ({ status, message }: ApiError): string => {
  if (status === 400) return "This is not the email address of your account.";
  if (status === 409) {
    return "You are the last owner of an organization. Delete it or make another member an owner first.";
  }
  return message;
};

/** Deletes the account after its email address was typed. */
export function DeleteAccount({ email }: { readonly email: string }) {
  const form = useForm({ confirm: "" });
  const { error } = form;
  const cancel = useRef<HTMLButtonElement>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const init = { method: "DELETE", body: form.values } as const;
    const result = await form.send("/api/accounts/me", init);
    if (result.ok) await signOut();
  };
  const trigger = <Button variant="danger-ghost">Delete account…</Button>;
  return (
    <SectionCard
      title="Delete account"
      description="Permanently deletes your chats, files, artists, templates, media and API keys. Runs that are active are stopped."
    >
      <Dialog
        title="Delete your account?"
        description="This permanently deletes everything that the account owns. Export it first if you may need it."
        trigger={trigger}
        initialFocus={cancel}
        onOpenChange={() => {
          form.set({ confirm: "" });
          form.clearError();
        }}
      >
        <form onSubmit={(event) => void submit(event)}>
          <TextField
            label={`Type ${email} to confirm`}
            required
            autoComplete="off"
            {...form.field("confirm")}
            error={error === null ? undefined : explain(error)}
          />
          <DialogActions>
            <DialogClose asChild>
              <Button ref={cancel} variant="outline">
                Cancel
              </Button>
            </DialogClose>
            <Button type="submit" variant="danger" busy={form.busy}>
              Delete permanently
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </SectionCard>
  );
}
