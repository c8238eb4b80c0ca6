"use client";
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
type Share = NonNullable<ShareAnswer["share"]>;

interface ShareDialogProps {
  readonly target: RowTarget;
  readonly onClose: () => void;
}

/** Creates, renews and revokes the read-only link of a chat. */
export function ShareDialog({ target, onClose }: ShareDialogProps) {
  const path = `${pathOf(target)}/share`;
  const { data, error, reload, change } = useQuery<ShareAnswer>(path);
  const { send, busy, error: failure } = useSubmit();
  const ask = async (method: "PUT" | "DELETE") => {
    const result = await send<ShareAnswer>(path, { method });
    if (result.ok) change((now) => ({ ...now, share: result.data.share ?? null }));
  };
  return (
    <Dialog
      onClose={onClose}
      title="Share chat"
      description="Anyone who has the link can read the messages up to now: the texts and which tools were used. Files, reasoning and the results of tools stay private, and so do later messages."
    >
      {error && <ErrorState error={error} onRetry={reload} />}
      {failure && <ErrorState error={failure} />}
      {!data && !error && <Skeleton className="h-9 w-full" />}
      {data?.share && (
        <SharedLink
          share={data.share}
          busy={busy}
          onRenew={() => void ask("PUT")}
          onRevoke={() => void ask("DELETE")}
        />
      )}
      {data && !data.share && (
        <Button icon={Globe} className="mt-1" busy={busy} onClick={() => void ask("PUT")}>
          Create link
        </Button>
      )}
    </Dialog>
  );
}

function SharedLink({
  share: { url, updated_at: sharedAt, message_count: count },
  busy,
  onRenew,
  onRevoke,
}: {
  readonly share: Share;
  readonly busy: boolean;
  readonly onRenew: () => void;
  readonly onRevoke: () => void;
}) {
  return (
    <>
      <div className="flex gap-2">
        <Input
          readOnly
          aria-label="Link"
          value={url}
          className="min-w-0 flex-1 font-mono text-sm"
          onFocus={(event) => event.target.select()}
        />
        <CopyButton text={url} label="Copy link" variant="primary" size="md">
          Copy
        </CopyButton>
      </div>
      <p className="mt-2 text-sm text-muted-foreground">
        {count === 1 ? "1 message" : `${count.toLocaleString("en")} messages`}, as of{" "}
        {formatDateTime(sharedAt)}
      </p>
      <div className="mt-5 flex flex-wrap items-center gap-2">
        <Button variant="danger-ghost" disabled={busy} onClick={onRevoke}>
          Stop sharing
        </Button>
        <span className="flex-1" />
        <a href={url} target="_blank" rel="noopener" className={buttonStyle({ variant: "ghost" })}>
          <ExternalLink aria-hidden />
          Open
        </a>
        <Button variant="outline" busy={busy} onClick={onRenew}>
          Include new messages
        </Button>
      </div>
    </>
  );
}
