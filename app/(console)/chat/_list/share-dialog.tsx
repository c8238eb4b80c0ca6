import { ExternalLink, Globe } from "lucide-react";
import type { getShareContract } from "@/lib/sessions/shares/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { Button, buttonStyle } from "../../_ui/button.tsx";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { Dialog } from "../../_ui/dialog.tsx";
import { Input } from "../../_ui/form.tsx";
import { formatDateTime } from "../../_ui/format.ts";
import { ErrorState, Skeleton } from "../../_ui/states.tsx";
import { pathOf, type RowTarget } from "./row-target.ts";

type ShareAnswer = Answer<typeof getShareContract>;

type ShareDialogProps = Readonly<{ target: RowTarget; onClose: () => void }>;

/** Creates, renews and revokes the read-only link of a chat. */
export function ShareDialog({ target, onClose }: ShareDialogProps) {
  const path = `${pathOf(target)}/share`;
  const { data, error, reload, change } = useQuery<ShareAnswer>(path);
  const { send, busy, error: failure } = useSubmit();
  const ask = async (method: "PUT" | "DELETE") => {
    const result = await send<ShareAnswer>(path, { method });
    if (result.ok) change((now) => ({ ...now, share: result.data.share ?? null }));
  };
  const share = data?.share;
  return (
    <Dialog
      onClose={onClose}
      title="Share chat"
      description="Anyone who has the link can read the messages up to now: the texts and which tools were used. Files, reasoning and the results of tools stay private, and so do later messages."
    >
      {error && <ErrorState error={error} onRetry={reload} />}
      {failure && <ErrorState error={failure} />}
      {!data && !error && <Skeleton className="h-9 w-full" />}
      {share && (
        <>
          <div className="flex gap-2">
            <Input
              readOnly
              aria-label="Link"
              value={share.url}
              className="min-w-0 flex-1 font-mono text-sm"
              onFocus={(event) => event.target.select()}
            />
            <CopyButton text={share.url} label="Copy link" variant="primary" size="md">
              Copy
            </CopyButton>
          </div>
          <p className="mt-2 text-sm text-muted-foreground">
            {share.message_count.toLocaleString("en")}{" "}
            {share.message_count === 1 ? "message" : "messages"}, as of{" "}
            {formatDateTime(share.updated_at)}
          </p>
          <div className="mt-5 flex flex-wrap items-center gap-2">
            <Button variant="danger-ghost" disabled={busy} onClick={() => void ask("DELETE")}>
              Stop sharing
            </Button>
            <span className="flex-1" />
            <a
              href={share.url}
              target="_blank"
              rel="noopener"
              className={buttonStyle({ variant: "ghost" })}
            >
              <ExternalLink aria-hidden />
              Open
            </a>
            <Button variant="outline" busy={busy} onClick={() => void ask("PUT")}>
              Include new messages
            </Button>
          </div>
        </>
      )}
      {data && !share && (
        <Button icon={Globe} className="mt-1" busy={busy} onClick={() => void ask("PUT")}>
          Create link
        </Button>
      )}
    </Dialog>
  );
}
