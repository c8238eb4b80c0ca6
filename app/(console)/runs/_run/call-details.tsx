import type { UIMessage } from "ai";
import type { MessagePart, ReadCall } from "@/lib/turns/model-call-contract.ts";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { formatCount } from "../../_ui/format.ts";
import { keyed } from "../../_ui/keyed.ts";
import { Section } from "../../_ui/page-header.tsx";
import { Loaded, Loading } from "../../_ui/states.tsx";
import { useConversation } from "../../chat/_state/open-conversations.ts";
import { readToolCall } from "../../chat/_state/tool-call.ts";
import { ToolDetail } from "../../chat/_tools/tool-detail.tsx";
import { TextBox } from "./run-results.tsx";

const loading = <Loading label="Loading the call…" className="h-40 rounded-xl" />;

/** The request of a step, and its answer. @param path where the API has them */
export const ModelCallDetails = ({ path }: { readonly path: string }) => (
  <Section title="Request and answer" className="mt-4">
    <Loaded
      query={useQuery<ReadCall>(path)}
      loading={loading}
      missing={<p className="text-muted-foreground">The messages of this call are not kept.</p>}
    >
      {(call) => <Call {...call} />}
    </Loaded>
  </Section>
);

function Call({ as_sent, instructions, omitted_messages, messages, answer, tools }: ReadCall) {
  const unsure = Object.entries(as_sent).flatMap(([part, isSame]) => (isSame ? [] : [part]));
  const request = { instructions: instructions.text, messages, tools, answer };
  return (
    <>
      <div className="mb-2 flex items-center justify-between gap-3 text-sm text-muted-foreground">
        <p>
          {unsure.length === 0
            ? "Exactly as sent, without the bytes of files."
            : `Put together again from the chat. The model may have been sent other ${unsure.join(", ")}.`}
          {omitted_messages > 0 && ` ${formatCount(omitted_messages)} older messages are left out.`}
        </p>
        <CopyButton isSmall label="Copy as JSON" text={JSON.stringify(request, null, 2)} />
      </div>
      <div className="divide-y rounded-xl border bg-surface">
        <Fold title="Instructions" text={withCut(instructions)} />
        <Fold title={`Tools (${tools.length})`} text={JSON.stringify(tools, null, 2)} />
        {keyed(messages).map(({ key, item: { role, parts } }) => (
          <Fold key={key} title={role} text={textOf(parts)} />
        ))}
        <Fold title="Answer" text={textOf(answer)} isOpen />
      </div>
    </>
  );
}

const LABELS = {
  ...{ text: "", reasoning: "Reasoning:\n", file: "File: " },
  ...{ tool_call: "Call of ", tool_result: "Result of " },
};

const textOf = (parts: readonly MessagePart[]): string =>
  parts
    .map((part) => {
      const tool = part.tool_name === null ? "" : `${part.tool_name}:\n`;
      return LABELS[part.type] + tool + withCut(part);
    })
    .join("\n\n");

const withCut = ({ text, cut_chars }: Pick<MessagePart, "text" | "cut_chars">): string =>
  cut_chars === 0 ? text : `${text}\n[${formatCount(cut_chars)} more characters are cut here]`;

type FoldProps = Readonly<{ title: string; text: string; isOpen?: boolean }>;

const Fold = ({ title, text, isOpen = false }: FoldProps) => (
  <details open={isOpen} className="px-4 py-2">
    <summary className="cursor-pointer truncate text-sm text-muted-foreground">
      <span className="inline-block font-medium text-foreground first-letter:uppercase">
        {title}
      </span>{" "}
      {text.slice(0, 160)}
    </summary>
    <TextBox text={text} name={`${title} text`} />
  </details>
);

/** The input and the result of a tool call, or its output until now, which the messages of the run's chat have. */
export function CallDetails({ run, callId }: Pick<RunTrace, "run"> & { readonly callId: string }) {
  const { view, messages } = useConversation(run.sessionId, run.chatId);
  const call = messages
    .flatMap(({ parts }) =>
      (parts as UIMessage["parts"]).flatMap((part) => readToolCall(part) ?? []),
    )
    .find(({ id }) => id === callId);
  return (
    <Section title="Input and result" className="mt-4">
      {call ? (
        <ToolDetail call={call} />
      ) : view.phase === "loading" ? (
        loading
      ) : (
        <p className="text-sm text-muted-foreground">
          The chat does not show this call: it is of a subagent, or of another version of the
          answer.
        </p>
      )}
    </Section>
  );
}
