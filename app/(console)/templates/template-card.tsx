"use client";
import { Lock, MessageSquarePlus, Pencil, Star, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { Template } from "@/lib/templates/template.ts";
import { remove } from "../_api/request.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Cover } from "../_ui/cover.tsx";
import { ConfirmDialog, Dialog, DialogActions } from "../_ui/dialog.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { toast } from "../_ui/toast.tsx";

export function TemplateCard({
  template,
  isMine,
  onEdit,
  onDeleted,
  onFavourite,
}: {
  readonly template: Template;
  readonly isMine: boolean;
  readonly onEdit: () => void;
  readonly onDeleted: () => void;
  readonly onFavourite: (isFavourite: boolean) => Promise<void>;
}) {
  const { id, title, description, tags, creator, is_private, is_favourite } = template;
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
        <FavouriteButton
          title={title}
          isFavourite={is_favourite}
          count={template.favorites_count}
          onChange={onFavourite}
        />
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
          <Badge key={tag}>
            <span className="truncate">{tag}</span>
          </Badge>
        ))}
        {tags.length > 4 && <Badge>+{tags.length - 4}</Badge>}
      </div>
      <div className="mt-auto flex items-center gap-1">
        <Button variant="outline" size="sm" onClick={use}>
          <MessageSquarePlus aria-hidden />
          Use
        </Button>
        <span className="min-w-0 flex-1 truncate px-2 text-sm text-muted-foreground">
          {isMine ? "By you" : creator.name}
        </span>
        {isMine && (
          <>
            <Button
              variant="ghost"
              size="icon"
              className="text-muted-foreground"
              aria-label={`Edit ${title}`}
              title="Edit"
              onClick={onEdit}
            >
              <Pencil aria-hidden />
            </Button>
            <ConfirmDialog
              title={`Delete “${title}”?`}
              description="This permanently deletes the template for everyone it is shared with. Chats started from it are kept."
              confirm="Delete"
              onConfirm={() => remove(`/api/agents/templates/${id}`)}
              onDone={() => {
                onDeleted();
                toast("Template deleted");
              }}
              trigger={
                <Button
                  variant="danger-ghost"
                  size="icon"
                  className="text-muted-foreground hover:text-danger-text"
                  aria-label={`Delete ${title}`}
                  title="Delete"
                >
                  <Trash2 aria-hidden />
                </Button>
              }
            />
          </>
        )}
      </div>
      {open && (
        <TemplateDetails
          template={template}
          isMine={isMine}
          onUse={use}
          onClose={() => setOpen(false)}
        />
      )}
    </article>
  );
}

function FavouriteButton({
  title,
  isFavourite,
  count,
  onChange,
}: {
  readonly title: string;
  readonly isFavourite: boolean;
  readonly count: number;
  readonly onChange: (isFavourite: boolean) => Promise<void>;
}) {
  const [isSaving, setIsSaving] = useState(false);
  const toggle = async () => {
    // A second click before the response would undo what is shown, not what is stored.
    if (isSaving) return;
    setIsSaving(true);
    await onChange(!isFavourite);
    setIsSaving(false);
  };
  return (
    <button
      type="button"
      aria-pressed={isFavourite}
      aria-label={`Favourite: ${title}, ${count}`}
      title={isFavourite ? "Remove from favourites" : "Add to favourites"}
      onClick={() => void toggle()}
      className="-mt-1 -mr-1.5 flex h-7 shrink-0 items-center gap-1 rounded-md px-1.5 text-sm text-muted-foreground tabular-nums hover:bg-hover"
    >
      <Star
        aria-hidden
        className={cn("size-4", isFavourite && "fill-warning-text text-warning-text")}
      />
      {count > 0 && count}
    </button>
  );
}

/** A dialog with the whole template, including its prompt. */
function TemplateDetails({
  template,
  isMine,
  onUse,
  onClose,
}: {
  readonly template: Template;
  readonly isMine: boolean;
  readonly onUse: () => void;
  readonly onClose: () => void;
}) {
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
              <Badge>
                <span className="truncate">{tag}</span>
              </Badge>
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
        <Button onClick={onUse}>
          <MessageSquarePlus aria-hidden />
          Use in a new chat
        </Button>
      </DialogActions>
    </Dialog>
  );
}
