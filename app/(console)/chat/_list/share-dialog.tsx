import { useState } from "react";
import type { getSandboxContract, listSandboxFilesContract } from "@/lib/sandbox/contract.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import type { getShareContract } from "@/lib/sessions/shares/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { Button, buttonStyle } from "../../_ui/button.tsx";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { Dialog } from "../../_ui/dialog.tsx";
import { Input } from "../../_ui/form.tsx";
import { formatBytes, formatDateTime } from "../../_ui/format.ts";
import { ExternalLink, Globe } from "../../_ui/icons.tsx";
import { ErrorState, Skeleton } from "../../_ui/states.tsx";
import { FileName } from "../_message/file-type-icon.tsx";
import { withoutHome } from "../_state/attachment.ts";
import { addressOf, pathOf } from "./row-target.ts";

type ShareAnswer = Answer<typeof getShareContract>;

/** Creates, renews and revokes the read-only link of a chat. */
export function ShareDialog({ chat, onClose }: Readonly<{ chat: Chat; onClose: () => void }>) {
  const path = `${pathOf(addressOf(chat))}/share`;
  const { data, error, reload, change } = useQuery<ShareAnswer>(path);
  const { send, busy, error: failure } = useSubmit();
  const share = data?.share;
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const shared = (share?.files ?? []).map(({ path, size }) => ({ path: withoutHome(path), size }));
  const files = chosen ?? shared.map((file) => file.path);
  const ask = async (method: "PUT" | "DELETE") => {
    const init = method === "PUT" ? { method, body: { files } } : { method };
    const result = await send<ShareAnswer>(path, init);
    if (!result.ok) return;
    change((now) => ({ ...now, share: result.data.share ?? null }));
    setChosen(null);
  };
  return (
    <Dialog
      onClose={onClose}
      title="Share chat"
      description="Anyone who has the link can read the messages up to now: the texts and which tools were used. Reasoning and the results of tools stay private, and so do later messages."
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
        </>
      )}
      {data && (
        <FileChoice
          {...{ sessionId: chat.sessionId, shared, chosen: files }}
          onChange={setChosen}
        />
      )}
      {share && (
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
            Update
          </Button>
        </div>
      )}
      {data && !share && (
        <Button icon={Globe} className="mt-3" busy={busy} onClick={() => void ask("PUT")}>
          Create link
        </Button>
      )}
    </Dialog>
  );
}

interface FileChoiceProps {
  readonly sessionId: string;
  readonly shared: readonly Readonly<{ path: string; size: number }>[];
  readonly chosen: readonly string[];
  readonly onChange: (paths: readonly string[]) => void;
}
type Listing = Answer<typeof listSandboxFilesContract>;

/** Other files that are shared already, then the files of the home and its folder "workspace", newest first. */
function FileChoice({ sessionId, shared, chosen, onChange }: FileChoiceProps) {
  const query = `sessionId=${sessionId}`;
  const { data } = useQuery<Answer<typeof getSandboxContract>>(`/api/sandbox?${query}`);
  const place = /active|stopped/.test(data?.sandbox.state ?? "")
    ? `/api/sandbox/files?${query}`
    : null;
  const home = useQuery<Listing>(place).data?.entries ?? [];
  const hasWorkspace = home.some(({ name, type }) => type === "directory" && name === "workspace");
  const workspace = useQuery<Listing>(place && hasWorkspace ? `${place}&path=workspace` : null);
  const files = [...home, ...(workspace.data?.entries ?? [])]
    .filter(({ type, name }) => type === "file" && !name.startsWith("."))
    .sort((one, other) => other.modifiedAt.localeCompare(one.modifiedAt))
    .map(({ path, size }) => ({ path: withoutHome(path), size }));
  const others = shared.filter(({ path }) => files.every((file) => file.path !== path));
  const offered = [...others, ...files];
  if (offered.length === 0) return null;
  return (
    <fieldset className="mt-4">
      <legend className="text-sm font-medium">Files that anyone can save</legend>
      <ul className="mt-1.5 max-h-48 overflow-y-auto rounded-lg border px-3 py-1">
        {offered.map(({ path, size }) => (
          <li key={path}>
            <label className="flex cursor-pointer items-center gap-2.5 py-1.5 text-sm">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={chosen.includes(path)}
                onChange={({ target: { checked } }) =>
                  onChange(checked ? [...chosen, path] : chosen.filter((one) => one !== path))
                }
              />
              <FileName className="min-w-0 flex-1 truncate" name={path} />
              <span className="text-muted-foreground">{formatBytes(size)}</span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
