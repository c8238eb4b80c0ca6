"use client";
import { type FormEvent, useRef, useState } from "react";
import { type ApiError, api } from "../_api/request.ts";
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
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | undefined>();
  const cancel = useRef<HTMLButtonElement>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const result = await api("/api/accounts/me", { method: "DELETE", body: { confirm: typed } });
    setBusy(false);
    if (result.ok) await signOut();
    else setErrorText(explain(result.error));
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
          setTyped("");
          setErrorText(undefined);
        }}
      >
        <form onSubmit={(event) => void submit(event)}>
          <TextField
            label={`Type ${email} to confirm`}
            error={errorText}
            required
            autoComplete="off"
            value={typed}
            onChange={setTyped}
          />
          <DialogActions>
            <DialogClose asChild>
              <Button ref={cancel} variant="outline">
                Cancel
              </Button>
            </DialogClose>
            <Button type="submit" variant="danger" busy={busy}>
              Delete permanently
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </SectionCard>
  );
}
