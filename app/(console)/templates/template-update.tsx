import { useState } from "react";
import type { Task } from "@/lib/schedules/task.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import type { getTemplateVersionContract } from "@/lib/templates/contract.ts";
import { type Answer, api } from "../_api/request.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { SmallButton } from "../_ui/button.tsx";
import { DiffView } from "../_ui/diff-view.tsx";
import { toast } from "../_ui/toast.tsx";
import type { Conversation } from "../chat/_state/conversation.ts";

export const ChatTemplateUpdate = ({
  chat: { templateId, template_version, template_update },
  conversation,
}: {
  readonly chat: Pick<Chat, "templateId" | "template_version" | "template_update">;
  readonly conversation: Pick<Conversation, "changeChat">;
}) => (
  <TemplateUpdate
    templateId={templateId}
    version={template_version}
    newVersion={template_update?.version}
    onAccept={(version) => conversation.changeChat({ template_version: version })}
  />
);

export function TaskTemplateUpdate({
  task: { id, template_id, template_version, template_update },
  onChange,
}: {
  readonly task: Task;
  readonly onChange: () => void;
}) {
  const accept = async (version: number) => {
    const body = { template_version: version };
    const result = await api(`/api/tasks/${id}`, { method: "PATCH", body });
    if (result.ok) onChange();
    else toast(result.error.message, "danger");
  };
  return (
    <TemplateUpdate
      templateId={template_id}
      version={template_version}
      newVersion={template_update?.version}
      onAccept={accept}
    />
  );
}

interface TemplateUpdateProps {
  readonly templateId: string | null | undefined;
  /** The version that applies. */
  readonly version: number | null | undefined;
  readonly newVersion: number | undefined;
  readonly onAccept: (version: number) => Promise<unknown>;
}

/** Offers the newer version of a template, with its changes. */
function TemplateUpdate({ templateId, version, newVersion, onAccept }: TemplateUpdateProps) {
  const path = `/api/agents/templates/${templateId}/versions/${newVersion}?compare_to=${version}`;
  const { data } = useQuery<Answer<typeof getTemplateVersionContract>>(path);
  const [isAccepting, setAccepting] = useState(false);
  if (!data?.comparison) return null;
  const { changes, diff } = data.comparison;
  const accept = async () => {
    setAccepting(true);
    await onAccept(data.version.version);
    setAccepting(false);
  };
  return (
    <section
      aria-label="Template update"
      className="mx-auto mb-2 w-full max-w-3xl rounded-lg border bg-surface px-3 py-2 text-sm"
    >
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          A newer version of “{data.version.title}” is available.
        </p>
        <SmallButton busy={isAccepting} onClick={() => void accept()}>
          Accept
        </SmallButton>
      </div>
      <details>
        <summary className="w-fit cursor-pointer text-muted-foreground">Show changes</summary>
        <DiffView
          diff={[
            ...changes.flatMap(({ field, before, after }) =>
              field === "prompt" ? [] : `${field}: ${textOf(before)} → ${textOf(after)}`,
            ),
            ...(diff === null ? [] : [diff.slice(diff.indexOf("--- "))]),
          ].join("\n")}
        />
      </details>
    </section>
  );
}

const textOf = (value: unknown): string => {
  if (value === null) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
};
