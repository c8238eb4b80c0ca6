"use client";
import { useState } from "react";
import type { listSkillsContract, Skill } from "@/lib/skills/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useOrganizationNames } from "../_hooks/shared-reads.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { useScope } from "../_session/scope.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button, SmallButton } from "../_ui/button.tsx";
import { Switch } from "../_ui/form.tsx";
import { Page } from "../_ui/page-header.tsx";
import { ListSkeleton, Loaded } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { UploadButton } from "../_ui/upload-button.tsx";
import { FileDrop } from "../chat/_conversation/file-drop.tsx";

const SkillDialog = lazyComponent(() => import("./skill-dialogs.tsx"), "SkillDialog");
const ImportSkill = lazyComponent(() => import("./skill-dialogs.tsx"), "ImportSkill");

const MAX_ZIP_BYTES = 2 * 1024 * 1024;
const ZIP_ERROR =
  "The archive must be named after its skill (press-list.zip for “press-list”), contain a SKILL.md, and be at most 1 MB.";

/** Returns the query that names the owner of skills: an organization, or the account for null. */
const queryOf = (id: string | null) => (id === null ? "?" : `?organization_id=${id}`);

/** The skills of the account with the built-in ones, or the skills of the chosen organization. */
export function SkillsPage() {
  const { organization } = useScope();
  const owner = queryOf(organization?.id ?? null);
  const query = useQuery<Answer<typeof listSkillsContract>>(`/api/skills${owner}`);
  const names = useOrganizationNames();
  const [opened, setOpened] = useState<Skill | "new" | "import" | null>(null);
  const { send, busy } = useSubmit();
  const change = async (path: string, method: "PUT" | "PATCH", body: object) => {
    const result = await send(path, { method, body });
    if (!result.ok) {
      toast(result.error.fields.includes("zip") ? ZIP_ERROR : result.error.message, "danger");
    }
    query.reload();
  };
  const upload = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > MAX_ZIP_BYTES) return toast(ZIP_ERROR, "danger");
    const name = encodeURIComponent(file.name.replace(/\.zip$/i, ""));
    await change(`/api/skills/${name}${owner}`, "PUT", { zip: await base64Of(file) });
  };
  const close = () => {
    setOpened(null);
    query.reload();
  };
  return (
    <FileDrop
      text="Drop a ZIP archive of a skill"
      hint="press-list.zip with the SKILL.md of “press-list”"
      onFiles={([file]) => void upload(file)}
      className="relative min-h-full"
    >
      <Page
        title="Skills"
        description="Instructions and scripts for a kind of work. Agents load a skill when they need it."
        actions={
          <>
            <Button variant="outline" onClick={() => setOpened("import")}>
              Import
            </Button>
            <UploadButton
              variant="outline"
              busy={busy}
              accept=".zip"
              onFiles={([file]) => void upload(file)}
            >
              Upload ZIP
            </UploadButton>
            <Button onClick={() => setOpened("new")}>New skill</Button>
          </>
        }
      >
        <Loaded query={query} loading={<ListSkeleton label="Loading skills…" />}>
          {({ skills }) => (
            <ul aria-label="Skills" className="divide-y rounded-xl border bg-surface shadow-xs">
              {withoutReplaced(skills).map((skill) => (
                <li
                  key={`${skill.organization_id} ${skill.name}`}
                  aria-label={skill.name}
                  className="flex items-start gap-4 px-4 py-3"
                >
                  <div className="min-w-0 flex-1">
                    <SmallButton
                      variant="ghost"
                      className="-ml-2.5"
                      onClick={() => setOpened(skill)}
                    >
                      {skill.name}
                    </SmallButton>
                    <Badge tone={skill.version === null ? "neutral" : "accent"}>
                      {names.get(skill.organization_id ?? "") ?? SOURCES[skill.source]}
                    </Badge>
                    <p className="text-sm wrap-anywhere text-muted-foreground">
                      {skill.description}
                    </p>
                  </div>
                  <Switch
                    label={`Enable ${skill.name}`}
                    hideLabel
                    checked={skill.enabled}
                    onChange={(enabled) =>
                      void change(`/api/skills/${skill.name}${owner}`, "PATCH", { enabled })
                    }
                  />
                </li>
              ))}
            </ul>
          )}
        </Loaded>
        {opened === "import" && (
          <ImportSkill
            organization={organization ? { organization_id: organization.id } : {}}
            onClose={close}
          />
        )}
        {opened !== null && opened !== "import" && (
          <SkillDialog
            skill={opened === "new" ? null : opened}
            owner={opened === "new" ? owner : queryOf(opened.organization_id)}
            onClose={close}
          />
        )}
      </Page>
    </FileDrop>
  );
}

/** Returns the skills without built-in ones that another skill of the same name replaces. */
const withoutReplaced = (skills: readonly Skill[]): Skill[] => {
  const names = new Set(skills.flatMap(({ name, version }) => (version === null ? [] : [name])));
  return skills.filter(({ name, version }) => version !== null || !names.has(name));
};

const SOURCES = { "built-in": "Built-in", account: "Account", organization: "Organization" };

const base64Of = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
