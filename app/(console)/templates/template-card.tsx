import { useRouter } from "next/navigation";
import { useOptimistic, useState, useTransition } from "react";
import type { Template } from "@/lib/templates/template.ts";
import { api, remove } from "../_api/request.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button, IconButton, SmallButton } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Cover } from "../_ui/cover.tsx";
import { ConfirmDialog, Dialog, DialogActions } from "../_ui/dialog.tsx";
import { Lock, MessageSquarePlus, Pencil, Star, Trash2 } from "../_ui/icons.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { toast } from "../_ui/toast.tsx";

interface TemplateCardProps {
  readonly template: Template;
  readonly isMine: boolean;
  readonly onEdit: () => void;
  /** Resolves when the templates were read again. */
  readonly onChanged: () => Promise<unknown>;
}

export function TemplateCard({ template, isMine, onEdit, onChanged }: TemplateCardProps) {
  const { id, title, description, tags, creator, is_private } = template;
  const [open, setOpen] = useState(false);
  const router = useRouter();
  const use = () => router.push(`/chat?template=${id}`);
  return (
    <article
      aria-label={title}
      className="flex h-full min-h-46 flex-col rounded-xl border bg-surface p-4 shadow-xs transition-colors hover:border-input"
    >
      <div className="flex items-start gap-3">
        <Cover seed={title} className="size-10 rounded-lg" />
        <h2 className="min-w-0 flex-1 self-center font-semibold">
          <button
            type="button"
            onClick={() => setOpen(true)}
            className="line-clamp-2 w-full rounded-sm text-left [overflow-wrap:anywhere] hover:underline"
          >
            {title}
          </button>
        </h2>
        <FavouriteButton template={template} onChanged={onChanged} />
      </div>
      <p className="mt-2.5 line-clamp-3 text-muted-foreground [overflow-wrap:anywhere]">
        {description}
      </p>
      <div className="mt-3 mb-4 flex max-h-11 flex-wrap gap-1 overflow-hidden">
        {is_private && (
          <Badge tone={isMine ? "neutral" : "accent"}>
            <Lock aria-hidden />
            {isMine ? "Private" : "Shared with you"}
          </Badge>
        )}
        {tags.slice(0, 4).map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        {tags.length > 4 && <Badge>+{tags.length - 4}</Badge>}
      </div>
      <div className="mt-auto flex items-center gap-1">
        <SmallButton icon={MessageSquarePlus} onClick={use}>
          Use
        </SmallButton>
        <span className="min-w-0 flex-1 truncate px-2 text-sm text-muted-foreground">
          {isMine ? "By you" : creator.name}
        </span>
        {isMine && (
          <>
            <IconButton
              icon={Pencil}
              isLarge
              label={`Edit ${title}`}
              className="text-muted-foreground"
              title="Edit"
              onClick={onEdit}
            />
            <ConfirmDialog
              title={`Delete “${title}”?`}
              description="This permanently deletes the template for everyone it is shared with. Chats started from it are kept."
              confirm="Delete"
              onConfirm={() => remove(`/api/agents/templates/${id}`)}
              onDone={() => {
                void onChanged();
                toast("Template deleted");
              }}
              button={{
                icon: Trash2,
                size: "icon",
                "aria-label": `Delete ${title}`,
                title: "Delete",
                className: "text-muted-foreground hover:text-danger-text",
                children: "",
              }}
            />
          </>
        )}
      </div>
      {open && (
        <TemplateDetails {...{ template, isMine }} onUse={use} onClose={() => setOpen(false)} />
      )}
    </article>
  );
}

function FavouriteButton({
  template: { id, title, is_favourite, favorites_count },
  onChanged,
}: Pick<TemplateCardProps, "template" | "onChanged">) {
  const [isSaving, startSaving] = useTransition();
  const [isFavourite, show] = useOptimistic(is_favourite);
  const count = favorites_count + Number(isFavourite) - Number(is_favourite);
  const toggle = async () => {
    show(!isFavourite);
    const path = `/api/agents/templates/${id}/favorite`;
    const result = await api(path, { method: "PUT", body: { is_favourite: !isFavourite } });
    if (result.ok) await onChanged();
    else toast(result.error.message, "danger");
  };
  return (
    <button
      type="button"
      aria-pressed={isFavourite}
      aria-disabled={isSaving}
      aria-label={`Favourite: ${title}, ${count}`}
      title={isFavourite ? "Remove from favourites" : "Add to favourites"}
      onClick={() => {
        // A second click before the response would toggle the displayed state, not the stored one.
        if (!isSaving) startSaving(toggle);
      }}
      className="-mt-1 -mr-1.5 flex h-7 shrink-0 items-center gap-1 rounded-md px-1.5 text-sm text-muted-foreground tabular-nums hover:bg-hover"
    >
      <Star
        aria-hidden
        className="size-4 in-aria-pressed:fill-warning-text in-aria-pressed:text-warning-text"
      />
      {count > 0 && count}
    </button>
  );
}

type TemplateDetailsProps = Pick<TemplateCardProps, "template" | "isMine"> &
  Readonly<{ onUse: () => void; onClose: () => void }>;

function TemplateDetails({ template, isMine, onUse, onClose }: TemplateDetailsProps) {
  const { title, description, prompt, tags, creator, shared_emails } = template;
  return (
    <Dialog
      title={title}
      description={<p className="[overflow-wrap:anywhere]">{description}</p>}
      onClose={onClose}
      className="max-w-2xl"
    >
      <div className="relative rounded-lg border bg-muted/50">
        <CopyButton
          text={prompt}
          label="Copy prompt"
          variant="ghost"
          className="absolute top-1 right-1 size-7"
        />
        <ScrollBox label="Prompt" className="max-h-[40vh]">
          <p className="py-3 pr-10 pl-3.5 whitespace-pre-wrap [overflow-wrap:anywhere]">{prompt}</p>
        </ScrollBox>
      </div>
      {tags.length > 0 && (
        <ul aria-label="Tags" className="mt-4 flex flex-wrap gap-1">
          {tags.map((tag) => (
            <li key={tag} className="max-w-full">
              <Badge>{tag}</Badge>
            </li>
          ))}
        </ul>
      )}
      <p className="mt-4 text-sm text-muted-foreground [overflow-wrap:anywhere]">
        {isMine ? "By you" : `By ${creator.name || "someone else"}`}, updated{" "}
        <RelativeTime date={template.updated_at} />.{" "}
        {shared_emails.length > 0 && `Shared with ${shared_emails.join(", ")}.`}
      </p>
      <DialogActions>
        <Button icon={MessageSquarePlus} onClick={onUse}>
          Use in a new chat
        </Button>
      </DialogActions>
    </Dialog>
  );
}
