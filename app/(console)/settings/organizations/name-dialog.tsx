import type { createOrganizationContract } from "@/lib/organizations/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import type { Answer } from "../../_api/request.ts";
import { useForm } from "../../_hooks/use-form.ts";
import { TextField } from "../../_ui/form.tsx";
import { FormDialog } from "../../_ui/form-dialog.tsx";

interface NameDialogProps {
  readonly organization: Organization | null;
  readonly onClose: () => void;
  readonly onSaved: (organization: Organization) => void;
}

export function NameDialog({ organization, onClose, onSaved }: NameDialogProps) {
  const form = useForm(
    { name: organization?.organization_name ?? "" },
    { name: "Enter a name of 1 to 100 characters." },
  );
  const onSubmit = async () => {
    const result = await form.send<Answer<typeof createOrganizationContract>>(
      `/api/organizations${organization === null ? "" : `/${organization.organization_id}`}`,
      { method: organization === null ? "POST" : "PATCH", body: form.values },
    );
    if (result.ok) onSaved(result.data.organization);
  };
  return (
    <FormDialog
      title={organization === null ? "New organization" : "Rename organization"}
      submit={organization === null ? "Create organization" : "Save"}
      {...{ form, onSubmit, onClose }}
    >
      <TextField
        label="Name"
        hint="As members and invited people read it."
        maxLength={100}
        autoComplete="organization"
        placeholder="Lamp House Records"
        {...form.field("name")}
      />
    </FormDialog>
  );
}
