import { unifiedDiff } from "@platform/kit/unified-diff";
import { visibleName } from "@platform/kit/visible-name";
import { useQuery as useStored } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type ComponentProps, type ReactNode, useState } from "react";
import type { MemoryProposal } from "@/lib/memory/contract.ts";
import type { WorkspaceVersion } from "@/lib/workspace/workspace-file.ts";
import { remove } from "../_api/request.ts";
import { useOwnAccount } from "../_hooks/shared-reads.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { Button, SmallButton } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { ConfirmDialog } from "../_ui/dialog.tsx";
import { DiffView } from "../_ui/diff-view.tsx";
import { formatBytes } from "../_ui/format.ts";
import { Download } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { BackLink, DetailHeader, Section } from "../_ui/page-header.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { download } from "../_ui/save-file.ts";
import { ErrorNote, PagedList } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { FileViewer, readFile, splitPlace } from "../_viewer/file-viewer.tsx";

/** Longer texts are not compared. */
const MAX_COMPARED_BYTES = 1_000_000;

interface FilePageProps {
  readonly artist: string;
  /** The path of the file, maybe with a place in it: `file#page=3`. */
  readonly address: string;
  /** The version that is shown; null for the newest. */
  readonly version: string | null;
}

/** One file of a workspace, and its versions with their authors. */
export function FilePage({ artist, address, version }: FilePageProps) {
  const router = useRouter();
  const own = useOwnAccount();
  const { send } = useSubmit();
  const [path, place] = splitPlace(address);
  const versions = usePages<WorkspaceVersion>(apiPath("versions", artist, { path }), "versions");
  const [newest, before] = versions.items ?? [];
  const isDeleted = newest?.deleted === true;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const name = visibleName(path.slice(folder.length));
  const content = apiPath("files/content", artist, { path });
  const shown = `${content}&version=${version ?? newest?.version ?? ""}`;
  const restore = async (earlier: number) => {
    const body = { ...(artist && { artist_id: artist }), path, version: earlier };
    const result = await send("/api/workspace/restore", { body });
    if (!result.ok) return toast(result.error.message, "danger");
    toast(`Version ${earlier} was restored.`);
    router.replace(pagePath(artist, { path }));
    await versions.refresh();
  };
  return (
    <>
      <BackLink href={pagePath(artist, { folder })}>{visibleName(folder) || "All files"}</BackLink>
      <DetailHeader title={name} state={version && `Version ${version}`} about={null}>
        <Button
          icon={Download}
          variant="outline"
          onClick={() => void download(newest ? shown : content, name)}
        >
          Download
        </Button>
        <ConfirmDialog
          title={`Delete ${name}?`}
          description={
            isDeleted
              ? "This permanently deletes all versions, which makes room for other files."
              : "Its versions stay for 90 days, and each can be restored here."
          }
          confirm={isDeleted ? "Delete permanently" : "Delete file"}
          onConfirm={() => remove(isDeleted ? `${content}&permanent=true` : content)}
          onDone={() => (isDeleted ? router.push(pagePath(artist)) : void versions.refresh())}
          button={{ children: "Delete" }}
        />
      </DetailHeader>
      {path === "MEMORY.md" && <MemoryProposals artist={artist} onAccepted={versions.refresh} />}
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Section title="Preview" className="min-w-0">
          <div className="flex h-[70vh] flex-col overflow-hidden rounded-xl border bg-surface">
            {isDeleted && version === null ? (
              <p className="m-auto p-6 text-muted-foreground">This file was deleted.</p>
            ) : (
              newest && <FileViewer key={shown} address={shown} name={name} place={place} />
            )}
          </div>
        </Section>
        <Section title="Versions" className="min-w-0">
          <PagedList
            label="Versions"
            pages={versions}
            keyOf={(one) => `${one.version}`}
            empty={null}
          >
            {(one) => (
              <Version artist={artist} version={one} isOwn={one.author.account_id === own}>
                {one !== newest && !one.deleted && (
                  <Action onClick={() => void restore(one.version)}>Restore</Action>
                )}
                {one === newest && before?.deleted === false && (
                  <Action onClick={() => void restore(before.version)}>Undo</Action>
                )}
              </Version>
            )}
          </PagedList>
        </Section>
      </div>
    </>
  );
}

const Action = (props: ComponentProps<typeof Button>) => <SmallButton {...props} variant="ghost" />;

interface VersionProps {
  readonly artist: string;
  readonly version: WorkspaceVersion;
  readonly isOwn: boolean;
  readonly children: ReactNode;
}

function Version({ artist, version: shown, isOwn, children }: VersionProps) {
  const [isOpen, setOpen] = useState(false);
  const { path, version, size, deleted, author } = shown;
  const { data: diff } = useStored({
    queryKey: [path, artist, version, "diff"],
    enabled: isOpen,
    queryFn: async ({ signal }) => {
      const read = async (number: number) => {
        const query = { path, version: `${number}` };
        // Nothing is before the first version, and in one that was deleted.
        const file = await readFile(apiPath("files/content", artist, query), "", signal);
        return file.text ?? "";
      };
      const [before, after] = [version > 1 ? await read(version - 1) : "", await read(version)];
      return unifiedDiff(["before", "after"], before, after) ?? "Too much has changed to show it.";
    },
  });
  return (
    <div className="px-4 py-2.5 text-sm text-muted-foreground">
      <Link
        href={pagePath(artist, { path, version: `${version}` })}
        className="font-medium text-foreground hover:underline"
      >
        {deleted ? "Deleted" : `Version ${version}`}
      </Link>
      <p>
        {size !== null && `${formatBytes(size)}, `}
        <RelativeTime date={shown.created_at} /> by{" "}
        {author.run_id === null ? (
          (isOwn && "you") || "a colleague"
        ) : (
          <Link href={`/runs/${author.run_id}`} className="underline">
            an agent
          </Link>
        )}
      </p>
      <div className="mt-1 -ml-2.5">
        {/\.(md|txt|[ct]sv|json)$/i.test(path) && (size ?? 0) < MAX_COMPARED_BYTES && (
          <Action aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Changes
          </Action>
        )}
        {children}
      </div>
      {isOpen && diff !== undefined && <DiffView diff={diff} />}
    </div>
  );
}

type MemoryProposalsProps = Readonly<{ artist: string; onAccepted: () => void }>;

/** The shorter texts that are proposed for a memory that is nearly full. */
export function MemoryProposals({ artist, onAccepted }: MemoryProposalsProps) {
  const list = usePages<MemoryProposal>(apiPath("memory/proposals", artist), "proposals");
  const { send, busy, error } = useSubmit();
  const decide = async (id: string, decision: "accept" | "reject") => {
    await send(`/api/workspace/memory/proposals/${id}/${decision}`);
    await list.refresh();
    onAccepted();
  };
  const open = list.items?.filter(({ state }) => state === "proposed") ?? [];
  return open.map(({ id, diff }) => (
    <Card key={id} className="mb-4 flex flex-col gap-3">
      <h2 className="font-semibold">The memory is nearly full: a shorter text is proposed</h2>
      <DiffView diff={diff} />
      <ErrorNote>{error?.message ?? null}</ErrorNote>
      <div className="flex gap-2">
        <Button busy={busy} onClick={() => void decide(id, "accept")}>
          Accept
        </Button>
        <Button variant="outline" busy={busy} onClick={() => void decide(id, "reject")}>
          Dismiss
        </Button>
      </div>
    </Card>
  ));
}

type Query = Readonly<Record<string, string>>;

/** Returns the path of the API for files of an artist, or with `""` of the account. */
export const apiPath = (endpoint: string, artist: string, query: Query = {}): string =>
  `/api/workspace/${endpoint}?${new URLSearchParams({ ...(artist && { artist_id: artist }), ...query })}`;

/** Returns the page of a `folder`, or of the file at a `path`, maybe of one `version`. */
export const pagePath = (artist: string, query: Query = {}): string =>
  `/files?${new URLSearchParams({ artist, ...query })}`;
