"use client";
import { type FormEvent, useState } from "react";
import type { z } from "zod";
import { useSubmit } from "@/app/(console)/_hooks/use-submit.ts";
import type { createOrganizationContract } from "@/lib/organizations/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import { Button } from "../../_ui/button.tsx";
import { Dialog, DialogActions, DialogClose } from "../../_ui/dialog.tsx";
import { Field } from "../../_ui/field.tsx";
import { Input } from "../../_ui/input.tsx";

type Saved = z.output<(typeof createOrganizationContract)["responses"][201]["schema"]>;

/** A dialog to create or rename an organization. */
export function NameDialog({
  organization,
  onClose,
  onSaved,
}: {
  /** Null for a new one. */
  readonly organization: Organization | null;
  readonly onClose: () => void;
  readonly onSaved: (organization: Organization) => void;
}) {
  const [name, setName] = useState(organization?.organization_name ?? "");
  const { send, busy, error } = useSubmit<Saved>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result =
      organization === null
        ? await send("/api/organizations", { body: { name } })
        : await send(`/api/organizations/${organization.organization_id}`, {
            method: "PATCH",
            body: { name },
          });
    if (result.ok) onSaved(result.data.organization);
  };
  const isInvalid = error?.fields.includes("name") ?? false;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={organization === null ? "New organization" : "Rename organization"}
    >
      <form noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label="Name"
          hint="As members and invited people read it."
          error={isInvalid ? "Enter a name of 1 to 100 characters." : error?.message}
        >
          {(ids) => (
            <Input
              {...ids}
              maxLength={100}
              autoComplete="organization"
              placeholder="Lamp House Records"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <DialogClose asChild>
            <Button variant="outline">Cancel</Button>
          </DialogClose>
          <Button type="submit" busy={busy}>
            {organization === null ? "Create organization" : "Save"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
