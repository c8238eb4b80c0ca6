import { unifiedDiffOfFiles } from "@platform/kit/unified-diff";
import { Fragment, useState } from "react";
import type {
  getSkillContract,
  importSkillContract,
  listSkillVersionsContract,
  Skill,
} from "@/lib/skills/contract.ts";
import { type Answer, api, remove } from "../_api/request.ts";
import { useForm } from "../_hooks/use-form.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Button, ButtonLink, SmallButton } from "../_ui/button.tsx";
import { ConfirmDialog } from "../_ui/dialog.tsx";
import { DiffView } from "../_ui/diff-view.tsx";
import { TextareaField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { formatDateTime } from "../_ui/format.ts";
import { Section } from "../_ui/page-header.tsx";
import { ErrorNote } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";

type Found = Answer<typeof getSkillContract>;

interface SkillDialogProps {
  /** Null for a new one. */
  readonly skill: Pick<Skill, "name" | "version"> | null;
  /** The query that names the owner, with its question mark. */
  readonly owner: string;
  readonly onClose: () => void;
}

/** Creates a skill, or shows one with its versions and makes a new version of it. */
export function SkillDialog({ skill, owner, onClose }: SkillDialogProps) {
  const { data } = useQuery<Found>(skill && `/api/skills/${skill.name}${owner}`);
  if (skill && !data) return null;
  const { sha256 = null, files = [NEW_FILE] } = data?.skill ?? {};
  // Shows the cached files until they are loaded again.
  return <Editor key={sha256} {...{ skill, owner, files, onClose }} />;
}

type File = Pick<Found["skill"]["files"][number], "path" | "text">;

const NEW_FILE: File = {
  path: "SKILL.md",
  text: "---\nname: press-list\ndescription: What it does, and when to use it\n---\n\n",
};
const ERRORS = {
  files: "SKILL.md needs a name and a description, and each file needs its own path.",
};

function Editor({ skill, ...props }: SkillDialogProps & { readonly files: readonly File[] }) {
  const { owner, onClose } = props;
  const form = useForm({ files: props.files }, ERRORS);
  const { files } = form.values;
  const isText = files.every(({ text }) => text !== null);
  const change = (at: number, ...to: File[]) => form.set({ files: files.toSpliced(at, 1, ...to) });
  const named = /^name:[ \t]*([\w-]+)/m.exec(files[0]?.text ?? "")?.[1] ?? "unnamed";
  const path = `/api/skills/${skill?.name ?? named}`;
  const onSubmit = async () => {
    const kept = files.filter(({ text }) => text !== "");
    const body = { files: Object.fromEntries(kept.map((one) => [one.path.trim(), one.text])) };
    if ((await form.send(path + owner, { method: "PUT", body })).ok) onClose();
  };
  return (
    <FormDialog
      title={skill?.name ?? "New skill"}
      description={
        (skill?.version === null && "Built-in. Saving creates your own copy, which replaces it.") ||
        (!isText && "Some files aren’t text. Upload a ZIP archive to change this skill.")
      }
      className="max-w-3xl sm:top-[5vh] sm:max-h-[90vh]"
      submit={skill ? "Save" : "Create skill"}
      isComplete={isText}
      {...{ form, onSubmit, onClose }}
    >
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the path changes while it is typed
        <Fragment key={at}>
          {file.path !== NEW_FILE.path && (
            <TextField
              label="Path"
              hint="Leave the text empty to remove the file."
              value={file.path}
              onChange={(to) => change(at, { ...file, path: to })}
            />
          )}
          <TextareaField
            label={file.path || "Text"}
            rows={file.path === NEW_FILE.path ? 12 : 5}
            disabled={file.text === null}
            value={file.text ?? ""}
            onChange={(text) => change(at, { ...file, text })}
          />
        </Fragment>
      ))}
      <ErrorNote>{form.field("files").error ?? null}</ErrorNote>
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" onClick={() => change(files.length, { path: "", text: "" })}>
          Add file
        </Button>
        {skill && (
          <ButtonLink variant="outline" href={`/runs?skill=${skill.name}`}>
            Runs with this skill
          </ButtonLink>
        )}
        {skill && skill.version !== null && (
          <ConfirmDialog
            title={`Delete ${skill.name}?`}
            description="This deletes all of its versions."
            confirm="Delete"
            onConfirm={() => remove(path + owner)}
            onDone={onClose}
            button={{}}
          />
        )}
      </div>
      {skill && skill.version !== null && <Versions {...{ path, owner, onClose }} />}
    </FormDialog>
  );
}

function Versions({
  path,
  owner,
  onClose,
}: Omit<SkillDialogProps, "skill"> & { readonly path: string }) {
  const { data } = useQuery<Answer<typeof listSkillVersionsContract>>(`${path}/versions${owner}`);
  const [shown, setShown] = useState({ version: 0, diff: "" });
  const show = async (version: number, before: number | undefined) => {
    const read = (one: number) => api<Found>(`${path}${owner}&version=${one}`);
    const [old, next] = await Promise.all([before && read(before), read(version)]);
    if (next.ok && (!old || old.ok)) {
      const diff = unifiedDiffOfFiles(old ? old.data.skill.files : [], next.data.skill.files);
      setShown({ version, diff });
    }
  };
  const restore = async (version: number) => {
    const result = await api(`${path}/restore${owner}`, { body: { version } });
    if (result.ok) onClose();
    else toast(result.error.message, "danger");
  };
  return (
    <Section title="Versions">
      <ul className="divide-y text-sm">
        {data?.versions.map(({ version, created_at, origin }, at, all) => (
          <li key={version} aria-label={`Version ${version}`} className="py-1.5">
            <div className="flex flex-wrap items-center gap-2">
              {version} · {formatDateTime(created_at)} {origin?.commit?.slice(0, 7)}
              <SmallButton
                variant="ghost"
                className="ml-auto"
                onClick={() => void show(version, all[at + 1]?.version)}
              >
                Changes
              </SmallButton>
              {at > 0 && (
                <SmallButton variant="ghost" onClick={() => void restore(version)}>
                  Restore
                </SmallButton>
              )}
            </div>
            {shown.version === version && <DiffView diff={shown.diff} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}

type Imported = Answer<typeof importSkillContract>;

const IMPORT_ERRORS = {
  url: "Enter the https URL of a public repository or ZIP archive that has a SKILL.md.",
  path: "Enter the folder of one skill, such as skills/press-list.",
};

type ImportSkillProps = Readonly<{ organization: object; onClose: () => void }>;

/** Imports a skill for the owner that `organization` names. Shows the changes of one that exists first. */
export function ImportSkill({ organization, onClose }: ImportSkillProps) {
  const form = useForm({ url: "", path: "" }, IMPORT_ERRORS);
  const [update, setUpdate] = useState<Imported["update"]>(null);
  const onSubmit = async () => {
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
      {...{ form, onSubmit, onClose }}
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
