"use client";
import type { UIMessage } from "ai";
import { useRouter, useSearchParams } from "next/navigation";
import { Activity, useEffect, useEffectEvent, useState } from "react";
import type { Chat } from "@/lib/sessions/session.ts";
import type { Template } from "@/lib/templates/template.ts";
import { api } from "../../_api/request.ts";
import { ConnectorsPicker, chooseConnectors } from "../../_connectors/connectors-picker.tsx";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { ModelPicker } from "../../_models/model-picker.tsx";
import { useScope } from "../../_session/scope.ts";
import { useFrame } from "../../_shell/frame.tsx";
import { cn } from "../../_ui/class-names.ts";
import {
  CalendarRange,
  ChartNoAxesCombined,
  type IconComponent,
  ListMusic,
  Megaphone,
  Receipt,
} from "../../_ui/icons.tsx";
import { Link } from "../../_ui/link.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { pageOf, pathOf } from "../_list/row-target.ts";
import { Message, TypingIndicator, WrittenParts } from "../_message/message.tsx";
import type { ChatAddress } from "../_state/attachment.ts";
import type { ChatError } from "../_state/chat-error.ts";
import type { Conversation } from "../_state/conversation.ts";
import type { ConnectionState } from "../_state/live-chat.ts";
import { toParts, type WrittenMessage } from "../_state/message-parts.ts";
import { Composer } from "./composer.tsx";
import { Notices } from "./conversation-composer.tsx";
import { FileDrop } from "./file-drop.tsx";
import { type Suggestion, variablesIn } from "./suggestion.ts";
import { type ChatSetup, type SetUp, toRefusal, useDraftChat } from "./use-draft-chat.ts";

const VariablesDialog = lazyComponent(() => import("./variables-dialog.tsx"), "VariablesDialog");

/**
 * The page for a new chat, which is created with the first file or message. In the address, `session` is
 * the session that the chat is for, and `template` the template whose prompt is filled in.
 */
export function NewChat() {
  const sessionId = useSearchParams().get("session");
  return <NewChatIn key={sessionId} sessionId={sessionId} />;
}

function NewChatIn({ sessionId }: { readonly sessionId: string | null }) {
  const router = useRouter();
  const { artist } = useScope();
  const { composer, setReturned, send, isMounted } = useDraftChat(sessionId ?? "new", sessionId);
  const { hasAiModel } = useFrame();
  const [modelId, setModelId] = useState("");
  const [connectors, setConnectors] = useState<readonly string[]>([]);
  /** The message that is being sent, which is shown at once. */
  const [sent, setSent] = useState<UIMessage["parts"] | null>(null);
  const isBusy = sent !== null;
  const [connection, setConnection] = useState<ConnectionState>("live");
  const [error, setError] = useState<ChatError | null>(null);

  /** The prompt that goes into the box, once its variables have values. */
  const [chosen, setChosen] = useState<Suggestion | null>(null);
  const fillIn = (text: string) => {
    setChosen(null);
    setReturned({ text, files: [] });
  };
  const choose = ({ title, prompt, sample }: Suggestion) =>
    variablesIn(prompt).length === 0 ? fillIn(prompt) : setChosen({ title, prompt, sample });
  const chooseTemplate = useEffectEvent(choose);
  const templateId = useSearchParams().get("template");
  useEffect(() => {
    if (templateId === null) return;
    history.replaceState(null, "", "/chat");
    void api<{ template: Template }>(`/api/agents/templates/${templateId}`).then((read) => {
      if (read.ok) chooseTemplate(read.data.template);
      else setError(toRefusal(read.error));
    });
  }, [templateId]);

  const setup = { modelId, connectors };
  const setUp: SetUp = async (address, conversation, isOlder) => {
    conversation.subscribe(() => setConnection(conversation.getView().connection));
    return isOlder ? setUpChat(address, conversation, setup) : null;
  };
  const sendFirst = async (message: WrittenMessage) => {
    setSent(toParts(message.text, message.files));
    setError(null);
    const result = await send(message, setUp, setup);
    if ("text" in result) {
      setSent(null);
      setConnection("live");
      setError(result);
    } else if (isMounted.current) router.push(pageOf(result));
  };

  return (
    <FileDrop
      onFiles={composer.attachments.add}
      className="relative flex h-full flex-col overflow-y-auto"
    >
      <div
        className={cn(
          "flex min-h-0 flex-1 flex-col",
          !isBusy && "justify-end pt-8 sm:justify-center sm:pb-[12vh]",
        )}
      >
        {isBusy ? (
          <SentMessage parts={sent} />
        ) : (
          <div className="mx-auto w-full max-w-3xl px-4 pb-6 max-sm:my-auto">
            <h1 className="text-center text-2xl font-semibold tracking-tight text-balance sm:text-3xl">
              {artist === null
                ? "What would you like to work on?"
                : `What would you like to do for ${artist.name}?`}
            </h1>
            <p className="mx-auto mt-2 max-w-lg text-center text-balance text-muted-foreground">
              The agent reads and writes files, runs commands on a computer of its own, and asks
              when something is unclear.
            </p>
          </div>
        )}
        <Notices
          view={{ connection, error, isReading: false }}
          messages={[]}
          onDismiss={() => setError(null)}
        />
        <div className="flex flex-col max-sm:flex-col-reverse">
          <Composer
            {...composer}
            isBusy={isBusy}
            placeholder="Message the agent, or drop a statement, a sheet or artwork"
            onSend={(text, files) => void sendFirst({ text, files })}
          >
            <ModelPicker value={modelId} onChoose={setModelId} />
            <ConnectorsPicker chosen={connectors} onChoose={setConnectors} />
          </Composer>
          <Activity mode={isBusy ? "hidden" : "visible"}>
            <Suggestions onChoose={choose} />
            {!hasAiModel && <StandInNote />}
          </Activity>
        </div>
      </div>
      {chosen !== null && (
        <VariablesDialog {...chosen} onFill={fillIn} onClose={() => setChosen(null)} />
      )}
    </FileDrop>
  );
}

/** The first message of the chat, at the place where the page of the chat will show it. */
const SentMessage = ({ parts }: Pick<UIMessage, "parts">) => (
  <ScrollBox ref={scrollToEnd} label="Conversation" className="min-h-0 flex-1 rounded-none">
    <div className="mx-auto flex max-w-3xl flex-col gap-5 px-4 py-5">
      <div className="py-1">
        <Message author="You" className="flex flex-col items-end gap-1">
          <WrittenParts parts={parts} />
        </Message>
      </div>
      <TypingIndicator />
    </div>
  </ScrollBox>
);

const scrollToEnd = (box: HTMLElement | null) => box?.scrollTo(0, box.scrollHeight);

/** Sets up a chat that was created for its files. Resolves to why that failed, if it did. */
async function setUpChat(address: ChatAddress, conversation: Conversation, setup: ChatSetup) {
  const { modelId, connectors } = setup;
  if (modelId !== "") {
    const set = await api<{ chat: Chat }>(pathOf(address), { method: "PATCH", body: { modelId } });
    if (!set.ok) return set.error;
    conversation.showChat(set.data.chat);
  }
  if (connectors.length === 0) return null;
  const named = await chooseConnectors(address, connectors);
  return named.ok ? null : named.error;
}

const Suggestions = ({ onChoose }: { readonly onChoose: (suggestion: Suggestion) => void }) => (
  <ul
    aria-label="Suggestions"
    className="mx-auto flex w-full max-w-4xl gap-2 px-4 max-sm:overflow-x-auto max-sm:pb-3 max-sm:[scrollbar-width:none] sm:flex-wrap sm:justify-center"
  >
    {suggestions.map(({ icon: Icon, ...suggestion }) => (
      <li key={suggestion.title}>
        <button
          type="button"
          onClick={() => onChoose(suggestion)}
          className="flex h-9 items-center gap-2 rounded-full border bg-surface px-3.5 text-sm whitespace-nowrap shadow-xs transition-colors hover:border-input hover:bg-muted"
        >
          <Icon aria-hidden className="size-4 text-muted-foreground" />
          {suggestion.title}
        </button>
      </li>
    ))}
  </ul>
);

const StandInNote = () => (
  <p className="mx-auto max-w-2xl px-4 text-center text-sm text-balance text-muted-foreground max-sm:pb-3 sm:pt-4">
    No AI model is connected yet. Built-in rules answer instead and can use the agent's tools.{" "}
    <Link href="/docs/settings" className="text-accent-text underline underline-offset-4">
      Connect a model
    </Link>
  </p>
);

const suggestions: readonly (Suggestion & { readonly icon: IconComponent })[] = [
  {
    title: "Plan a release",
    icon: CalendarRange,
    prompt:
      "Make a release plan for {release} by {artist}, which comes out on {release date}. List the tasks by week with owners: masters, artwork, metadata, pre-save, press, playlist pitch and socials. Write it to release-plan.md.",
  },
  {
    title: "Check royalties",
    icon: Receipt,
    prompt:
      "Check the attached royalty statement for {period}. Sum it by track and territory, and list what looks wrong: rates, duplicates and gaps.",
    sample:
      "Check the two royalty statements in the folder statements of the artist's files. Sum them by track and territory, and list what looks wrong: rates, duplicates and gaps.",
  },
  {
    title: "Pitch to playlists",
    icon: ListMusic,
    prompt:
      "Write a playlist pitch of at most 500 characters for {track} by {artist}. Ask me for the genre, mood, instruments and story first.",
  },
  {
    title: "Budget a tour",
    icon: ChartNoAxesCombined,
    prompt:
      "Make a budget for a tour of six club shows with four people on the road: fees, travel, hotels, crew, per diems and merch. Write it to tour-budget.csv and tell me where it breaks even.",
  },
  {
    title: "Write press text",
    icon: Megaphone,
    prompt:
      "Write the press text for {release} by {artist}: a headline, 150 words about the artist and the music, one quote, and the dates.",
  },
];
