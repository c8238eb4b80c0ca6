import { useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import type { Task } from "@/lib/tasks/task.ts";
import type { getTemplateVersionContract } from "@/lib/templates/contract.ts";
import { type Answer, api } from "../_api/request.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { SmallButton } from "../_ui/button.tsx";
import { DiffView } from "../_ui/diff-view.tsx";
import { ForeignText } from "../_ui/foreign-text.tsx";
import { toast } from "../_ui/toast.tsx";
import type { Conversation } from "../chat/_state/conversation.ts";

interface ChatTemplateUpdateProps {
  readonly chat: Pick<Chat, "templateId" | "template_version" | "template_update">;
  readonly conversation: Pick<Conversation, "changeChat">;
}

export const ChatTemplateUpdate = ({ chat, conversation }: ChatTemplateUpdateProps) => (
  <TemplateUpdate
    {...chat}
    onAccept={(version) => conversation.changeChat({ template_version: version })}
  />
);

type TaskTemplateUpdateProps = Readonly<{ task: Task; onChange: () => void }>;

export function TaskTemplateUpdate({ task, onChange }: TaskTemplateUpdateProps) {
  const accept = async (version: number) => {
    const body = { template_version: version };
    const result = await api(`/api/tasks/${task.id}`, { method: "PATCH", body });
    if (result.ok) onChange();
    else toast(result.error.message, "danger");
  };
  return <TemplateUpdate {...task} templateId={task.template_id} onAccept={accept} />;
}

interface TemplateUpdateProps {
  readonly templateId?: string | null | undefined;
  readonly template_version?: number | null | undefined;
  readonly template_update?: { readonly version: number } | null | undefined;
  readonly onAccept: (version: number) => Promise<unknown>;
}

/** Offers the newer version of a template, with its changes. */
function TemplateUpdate({ templateId, onAccept, ...versions }: TemplateUpdateProps) {
  const { template_version: applied, template_update: update } = versions;
  const path = `/api/agents/templates/${templateId}/versions/${update?.version}?compare_to=${applied}`;
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
          A newer version of “<ForeignText text={data.version.title} />” is available.
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
