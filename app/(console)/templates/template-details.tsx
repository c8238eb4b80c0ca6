"use client";
import { MessageSquarePlus } from "lucide-react";
import type { Template } from "@/lib/templates/template.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";

/** A dialog with the whole template, including its prompt. */
export function TemplateDetails({
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
      open
      onOpenChange={(open) => !open && onClose()}
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
