"use client";
import { visibleName } from "@platform/kit/visible-name";
import { useRouter } from "next/navigation";
import { useState, useTransition } from "react";
import type { continueShareContract, readShareContract } from "@/lib/sessions/shares/contract.ts";
import { type Answer, type ApiError, api } from "../_api/request.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { useSession } from "../_session/auth.ts";
import { Button, ButtonLink } from "../_ui/button.tsx";
import { formatDateTime } from "../_ui/format.ts";
import { Download, Wrench } from "../_ui/icons.tsx";
import { keyed } from "../_ui/keyed.ts";
import { ErrorState } from "../_ui/states.tsx";
import { hrefOf } from "../chat/_list/row-target.ts";
import { FileLabel } from "../chat/_message/file-type-icon.tsx";
import { Markdown } from "../chat/_message/markdown.tsx";
import { Message, UserText } from "../chat/_message/message.tsx";
import { usedTool } from "../chat/_state/tool-call.ts";

export type SharedPage = Answer<typeof readShareContract>;
type SharedMessage = SharedPage["messages"][number];
type SharedChatProps = Readonly<{ token: string; first: SharedPage }>;

/** The messages of a shared chat, read page by page. */
export function SharedChat({ token, first }: SharedChatProps) {
  const [messages, setMessages] = useState(first.messages);
  const [cursor, setCursor] = useState(first.next_cursor);
  const [isBusy, start] = useTransition();
  const [error, setError] = useState<ApiError | null>(null);
  const { title, message_count: count, updated_at: sharedAt, files } = first.share;
  const showMore = async () => {
    const result = await api<SharedPage>(`/api/shares/${token}?cursor=${cursor}`);
    setError(result.ok ? null : result.error);
    if (!result.ok) return;
    setMessages([...messages, ...result.data.messages]);
    setCursor(result.data.next_cursor);
  };
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-7 px-4 py-6 sm:py-10">
      <header className="border-b pb-5">
        <h1 className="text-2xl font-semibold tracking-tight [overflow-wrap:anywhere]">
          <bdi>{visibleName(title) || "Shared chat"}</bdi>
        </h1>
        <p className="mt-1.5 text-sm text-muted-foreground">
          Shared on{" "}
          <time dateTime={sharedAt} suppressHydrationWarning>
            {formatDateTime(sharedAt)}
          </time>
          . The results of tools are not part of a shared chat.
        </p>
        {files.length > 0 && (
          <ul aria-label="Files" className="mt-4 flex flex-wrap gap-2">
            {keyed(files).map(({ key, item: { name, size } }, index) => (
              <li key={key} className="max-w-full">
                <a
                  href={`/api/shares/${token}/files/${index}`}
                  download={visibleName(name)}
                  className="flex items-center gap-2.5 rounded-xl border bg-surface p-1.5 pr-3 hover:opacity-85"
                >
                  <FileLabel {...{ name, size }} />
                  <Download aria-hidden className="size-4 shrink-0 text-muted-foreground" />
                </a>
              </li>
            ))}
          </ul>
        )}
      </header>
      {messages.length === 0 && (
        <p className="py-12 text-center text-muted-foreground">This chat had no messages yet.</p>
      )}
      {keyed(messages).map(({ key, item }) => (
        <MessageView key={key} {...item} />
      ))}
      {error && <ErrorState error={error} />}
      {cursor !== null && (
        <Button
          variant="outline"
          size="sm"
          busy={isBusy}
          className="self-center"
          onClick={() => start(showMore)}
        >
          Show more messages ({(count - messages.length).toLocaleString("en")})
        </Button>
      )}
      <Invitation token={token} />
    </div>
  );
}

/** Introduces the product to a visitor. */
function Invitation({ token }: Pick<SharedChatProps, "token">) {
  const isSignedIn = useSession().status === "signed-in";
  const router = useRouter();
  const { send, busy, error } = useSubmit();
  const continueIt = async () => {
    const made = await send<Answer<typeof continueShareContract>>(`/api/shares/${token}/chats`);
    if (made.ok) router.push(hrefOf(made.data.chat));
  };
  return (
    <footer className="mt-3 flex flex-wrap items-center justify-between gap-x-6 gap-y-3 border-t pt-5">
      <p className="min-w-0 flex-1 basis-80 text-sm text-pretty text-muted-foreground">
        A chat with an agent of Agent Platform: it reads statements, plans releases, budgets tours
        and hands back the finished file.
      </p>
      <div className="flex flex-wrap gap-2">
        <ButtonLink href="/" variant="ghost" size="sm">
          What it does
        </ButtonLink>
        {isSignedIn ? (
          <Button variant="outline" size="sm" busy={busy} onClick={() => void continueIt()}>
            Continue in your own chat
          </Button>
        ) : (
          <ButtonLink href="/chat" variant="outline" size="sm">
            Start your own chat
          </ButtonLink>
        )}
      </div>
      {error && <ErrorState error={error} />}
    </footer>
  );
}

function MessageView({ role, parts }: SharedMessage) {
  if (role === "user") {
    return (
      <Message author="Author" className="flex flex-col items-end gap-1">
        {keyed(parts).map(({ key, item }) =>
          item.type === "text" ? <UserText key={key}>{item.text}</UserText> : null,
        )}
      </Message>
    );
  }
  return (
    <Message author="Agent" className="flex min-w-0 flex-col gap-3">
      {keyed(groupTools(parts)).map(({ key, item }) =>
        typeof item === "string" ? (
          <Markdown key={key} text={item} />
        ) : (
          <p
            key={key}
            className="flex items-start gap-2 text-sm text-muted-foreground [overflow-wrap:anywhere]"
          >
            <Wrench aria-hidden className="mt-0.5 size-3.5 shrink-0" />
            {item.join(", ")}
          </p>
        ),
      )}
    </Message>
  );
}

/** Returns the texts as they are, and what tools did between two of them as one list. */
function groupTools(parts: SharedMessage["parts"]): (string | string[])[] {
  const groups: (string | string[])[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (part.type === "text") groups.push(part.text);
    else if (!Array.isArray(last)) groups.push([toolLabel(part.name)]);
    else if (!last.includes(toolLabel(part.name))) last.push(toolLabel(part.name));
  }
  return groups;
}

const TOOL_LABELS: Readonly<Record<string, string>> = {
  ask_user_question: "Asked a question",
  bash: "Ran commands",
  edit: "Edited files",
  fetch: "Read web pages",
  glob: "Looked for files",
  grep: "Searched files",
  read: "Read files",
  skill: "Followed a skill",
  task: "Had a part of the work done",
  todo: "Made a plan",
  web_search: "Searched the web",
  schedule: "Created schedules",
  list_schedules: "Looked for schedules",
  make_media: "Generated media",
  write: "Wrote files",
};

const toolLabel = (name: string): string => TOOL_LABELS[name] ?? usedTool(name);
