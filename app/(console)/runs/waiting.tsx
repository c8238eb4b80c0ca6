import { useQueryClient } from "@tanstack/react-query";
import type { Approval } from "@/lib/approvals/contract.ts";
import type { FoundChat } from "@/lib/sessions/session.ts";
import { type ApprovalAnswer, ApprovalCard } from "../_approvals/approval-card.tsx";
import { useArtists } from "../_hooks/shared-reads.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { Inbox } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { EmptyState, ErrorNote, ErrorState, Loading, LoadMore, PagedList } from "../_ui/states.tsx";
import type { RunItem } from "./_state/run-state.ts";
import { RunRow } from "./agent-runs.tsx";

const POLL_MS = 10_000;

const useWaiting = <T,>(path: string, name: string) =>
  usePages<T>(`${path}&limit=100`, name, () => POLL_MS);

/** Everything for which the agents wait: approvals, with their cards, answers in chats, and results of client tools. */
export function Waiting() {
  const client = useQueryClient();
  const approvals = useWaiting<Approval>("/api/approvals?state=requested", "approvals");
  const runs = useWaiting<RunItem>("/api/chat/runs?status=requires_action", "runs");
  const chats = useWaiting<FoundChat>("/api/chats?waiting=true&archived=false", "chats");
  const artists = useArtists();
  const now = useClock(true);
  const { send, error } = useSubmit();
  const answer = async ({ id, run_id }: Approval, body: ApprovalAnswer) => {
    const path = `/api/chat/runs/${encodeURIComponent(run_id)}/approvals/${id}`;
    const { ok } = await send(path, { body });
    for (const path of ["/api/approvals", "/api/chat/runs"]) {
      void client.invalidateQueries({ queryKey: [path] });
    }
    return ok;
  };
  const asked = approvals.items;
  const failed = [approvals, runs, chats].find(({ error }) => error !== null);
  if (failed?.error) return <ErrorState error={failed.error} onRetry={failed.loadMore} />;
  if (!asked || !runs.items || !chats.items)
    return <Loading label="Loading…" className="h-48 rounded-xl" />;
  const kindOf = (id: string) => runs.items?.find(({ runId }) => runId === id)?.kind;
  const others = runs.items.filter(({ runId }) => !asked.some(({ run_id }) => run_id === runId));
  if (asked.length + others.length + chats.items.length === 0) {
    return (
      <EmptyState
        icon={Inbox}
        title="Nothing is waiting"
        text="When an agent asks a question, asks before it does something, or needs a result from a client, you find it here."
      />
    );
  }
  return (
    <div className="flex flex-col gap-6">
      <ErrorNote>{error?.message ?? null}</ErrorNote>
      {asked.map((approval) => (
        <article key={approval.id} aria-label={approval.title || "Untitled"} className="max-w-3xl">
          <ChatLink
            path={`${approval.session_id}/${approval.chat_id}`}
            title={approval.title}
            date={approval.created_at}
          />
          <ApprovalCard
            call={approval}
            isOfTask={kindOf(approval.run_id) === "task"}
            onAnswer={(given) => answer(approval, given)}
          />
        </article>
      ))}
      <LoadMore pages={approvals} items="approvals" />
      {chats.items.length > 0 && (
        <section aria-labelledby="waiting-chats">
          <h2 id="waiting-chats" className="mb-2 font-semibold">
            Chats that need your answer
          </h2>
          {chats.items.map(({ id, sessionId, title, lastAssistantMessageAt, createdAt }) => (
            <ChatLink
              key={id}
              path={`${sessionId}/${id}`}
              title={title}
              date={lastAssistantMessageAt ?? createdAt}
            />
          ))}
          <LoadMore pages={chats} items="chats" />
        </section>
      )}
      {others.length > 0 && (
        <section aria-labelledby="waiting-runs">
          <h2 id="waiting-runs" className="mb-2 font-semibold">
            Runs that need a client’s result
          </h2>
          <PagedList
            label="Waiting runs"
            pages={{ ...runs, items: others }}
            more="runs"
            empty={null}
            keyOf={(run) => run.runId}
          >
            {(run) => <RunRow {...{ run, artists, now }} />}
          </PagedList>
        </section>
      )}
    </div>
  );
}

const ChatLink = (chat: {
  readonly path: string;
  readonly title: string;
  readonly date: string;
}) => (
  <p className="mb-1.5 flex flex-wrap items-baseline gap-x-2 text-sm text-muted-foreground">
    <Link
      href={`/chat/${chat.path}`}
      className="font-medium text-foreground underline underline-offset-2 [overflow-wrap:anywhere]"
    >
      {chat.title.trim() || "Untitled"}
    </Link>
    <RelativeTime date={chat.date} />
  </p>
);
