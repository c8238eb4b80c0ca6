"use client";
import { useState } from "react";
import type { importSkillContract } from "@/lib/skills/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useForm } from "../_hooks/use-form.ts";
import { DiffView } from "../_ui/diff-view.tsx";
import { TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { toast } from "../_ui/toast.tsx";

type Imported = Answer<typeof importSkillContract>;

const ERRORS = {
  url: "Enter the https URL of a public repository or ZIP archive that has a SKILL.md.",
  path: "Enter the folder of one skill, such as skills/press-list.",
};

type ImportSkillProps = Readonly<{ organization: object; onClose: () => void }>;

/** Imports a skill for the owner that `organization` names. Shows the changes of one that exists first. */
export function ImportSkill({ organization, onClose }: ImportSkillProps) {
  const form = useForm({ url: "", path: "" }, ERRORS);
  const [update, setUpdate] = useState<Imported["update"]>(null);
  const submit = async () => {
    const { url, path } = form.values;
    const folder = path.trim() === "" ? {} : { path: path.trim() };
    const accept = update ? { accept: update.sha256 } : {};
    const body = { url: url.trim(), ...folder, ...organization, ...accept };
    const result = await form.send<Imported>("/api/skills/import", { body });
    if (!result.ok) return;
    setUpdate(result.data.update);
    if (result.data.update) return;
    toast(`${result.data.skill.name} imported`);
    onClose();
  };
  return (
    <FormDialog
      title="Import skill"
      description="Skills give your agents instructions, so review one before you import it. Import it again later to see what changed and update it."
      submit={update ? "Apply changes" : "Import"}
      {...{ form, onClose }}
      onSubmit={submit}
    >
      <TextField
        label="URL"
        placeholder="https://github.com/owner/name/tree/main/skills/press-list"
        {...form.field("url")}
      />
      <TextField
        label="Folder"
        hint="Only needed if there are several skills."
        {...form.field("path")}
      />
      {update && <DiffView diff={update.diff} />}
    </FormDialog>
  );
}
