import type { UIMessage } from "ai";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { Section } from "../../_ui/page-header.tsx";
import { ErrorState, Loading, Skeleton } from "../../_ui/states.tsx";
import type { StoredChat } from "../../chat/_state/message-parts.ts";
import { readToolCall } from "../../chat/_state/tool-call.ts";
import { ToolDetail } from "../../chat/_tools/tool-detail.tsx";

interface CallDetailsProps {
  readonly run: RunTrace["run"];
  readonly callId: string;
}

/** The input and the result of a tool call, which the messages of the run's chat have. */
export function CallDetails({ run, callId }: CallDetailsProps) {
  const isOver = run.finishedAt !== null;
  const path = `/api/sessions/${run.sessionId}/chats/${run.chatId}`;
  const { data, error, reload } = useQuery<StoredChat>(isOver ? path : null);
  const call = data?.messages
    .flatMap(({ parts }) =>
      (parts as UIMessage["parts"]).flatMap((part) => readToolCall(part) ?? []),
    )
    .find(({ id }) => id === callId);
  return (
    <Section title="Input and result" className="mt-4">
      {call && <ToolDetail call={call} />}
      {error && <ErrorState error={error} onRetry={reload} />}
      {isOver && !data && !error && (
        <Loading label="Loading the call…">
          <Skeleton className="h-24 rounded-lg" />
        </Loading>
      )}
      {!call && (data || !isOver) && (
        <p className="text-sm text-muted-foreground">
          {isOver
            ? "The chat does not show this call: it is of a subagent, or of another version of the answer."
            : "They are shown when the run has ended."}
        </p>
      )}
    </Section>
  );
}
