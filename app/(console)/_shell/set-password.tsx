"use client";
import { type FormEvent, useState } from "react";
import { authClient } from "@/app/(console)/_session/auth.ts";
import { explainAuthError } from "@/app/(console)/_session/explain-auth-error.ts";
import { Button } from "../_ui/button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { toast } from "../_ui/toast.tsx";

/** A first or a new password of who is signed in, whose address has been proved. */
export function SetPassword({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const { error } = await (await authClient()).updateUser({ password });
    setBusy(false);
    if (error) return setFault(explainAuthError(error));
    toast("Your password is set");
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Set a password"
      description="With it you sign in without a mailed code."
    >
      <form onSubmit={(event) => void submit(event)}>
        <Field label="New password" hint="8 to 72 characters." error={fault}>
          {(ids) => (
            <Input
              {...ids}
              type="password"
              required
              minLength={8}
              maxLength={72}
              autoComplete="new-password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <Button variant="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={busy}>
            Set password
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
