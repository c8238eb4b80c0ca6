"use client";
import { useRouter } from "next/navigation";
import { type ComponentProps, useState } from "react";
import { api } from "../_api/request.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Button } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import {
  Code2,
  GitCompare,
  type IconComponent,
  RotateCcw,
  SlidersHorizontal,
} from "../_ui/icons.tsx";
import { toast } from "../_ui/toast.tsx";
import type { RunItem } from "../runs/_state/run-state.ts";
import { PlaygroundChat } from "./playground-chat.tsx";
import { defaultSetup, EXAMPLE, type PlaygroundSetup, readNumber, toAgentSetup } from "./setup.ts";
import { SetupPanel } from "./setup-panel.tsx";

const CodeDialog = lazyComponent(() => import("../_snippets/code-dialog.tsx"), "CodeDialog");

/** Tries an agent with instructions, a model and a limit, and shows the same as code. */
export function PlaygroundPage() {
  const [setup, setSetup] = useState(defaultSetup);
  /** Another number starts a new chat. */
  const [attempt, setAttempt] = useState(0);
  const [lastMessage, setLastMessage] = useState<string | null>(null);
  const [sentCount, setSentCount] = useState(0);
  const router = useRouter();
  const [isCodeOpen, setCodeOpen] = useState(false);
  const [isSetupOpen, setSetupOpen] = useState(false);
  const change = (next: Partial<PlaygroundSetup>) => setSetup((before) => ({ ...before, ...next }));
  const compare = async () => {
    const found = await api<{ runs: RunItem[] }>("/api/chat/runs?kind=chat&limit=2");
    if (!found.ok) return toast(found.error.message, "danger");
    const [after, before] = found.data.runs;
    if (before && after) router.push(`/runs/compare?a=${before.runId}&b=${after.runId}`);
    else toast("The second answer has not started yet");
  };
  const startOver = () => {
    setAttempt(attempt + 1);
    setLastMessage(null);
  };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-13 shrink-0 items-center gap-2 border-b px-4">
        <h1 className="min-w-0 flex-1 truncate font-semibold">Playground</h1>
        <HeaderButton
          icon={SlidersHorizontal}
          label="Setup"
          className="lg:hidden"
          aria-expanded={isSetupOpen}
          onClick={() => setSetupOpen(!isSetupOpen)}
        />
        {sentCount > 1 && (
          <HeaderButton icon={GitCompare} label="Compare" onClick={() => void compare()} />
        )}
        {lastMessage !== null && (
          <HeaderButton icon={RotateCcw} label="Start over" onClick={startOver} />
        )}
        <HeaderButton
          icon={Code2}
          label="View as code"
          variant="outline"
          onClick={() => setCodeOpen(true)}
        />
      </header>
      <div className="flex min-h-0 flex-1 max-lg:flex-col">
        <section
          aria-label="Setup"
          className={cn(
            "shrink-0 overflow-y-auto border-r max-lg:max-h-[60%] max-lg:border-r-0 max-lg:border-b lg:w-84",
            !isSetupOpen && "max-lg:hidden",
          )}
        >
          <SetupPanel setup={setup} onChange={change} />
        </section>
        <PlaygroundChat
          key={attempt}
          setup={setup}
          onSent={(text) => {
            setLastMessage(text);
            setSentCount(sentCount + 1);
          }}
        />
      </div>
      {isCodeOpen && (
        <CodeDialog
          description="Sets up a chat like this one, sends the message, and prints the answer while it is written."
          scenario={{
            kind: "chat",
            chat: null,
            message: lastMessage ?? EXAMPLE,
            setup: toAgentSetup(setup),
            contextLimit: readNumber(setup, "contextLimit") ?? null,
          }}
          onClose={() => setCodeOpen(false)}
        />
      )}
    </div>
  );
}

const HeaderButton = ({
  icon: Icon,
  label,
  className,
  ...rest
}: ComponentProps<typeof Button> & { readonly icon: IconComponent; readonly label: string }) => (
  <Button
    icon={Icon}
    variant="ghost"
    size="sm"
    aria-label={label}
    title={label}
    className={cn("h-8", className)}
    {...rest}
  >
    <span className="max-sm:hidden">{label}</span>
  </Button>
);
