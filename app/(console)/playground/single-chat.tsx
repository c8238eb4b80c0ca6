"use client";
import { FlaskConical } from "lucide-react";
import { Button } from "../_ui/button.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { Composer } from "../chat/_conversation/composer.tsx";
import { FileDrop } from "../chat/_conversation/file-drop.tsx";
import { PlaygroundChat } from "./playground-chat.tsx";
import { EXAMPLE, type PlaygroundSetup } from "./setup.ts";
import { usePlaygroundChats } from "./use-playground-chats.ts";

/** The playground with one agent. */
export function SingleChat({
  setup,
  onSent,
}: {
  readonly setup: PlaygroundSetup;
  readonly onSent: (text: string) => void;
}) {
  const { chats, errorText, composer, fillIn } = usePlaygroundChats(setup, [setup.modelId], onSent);
  const { isStarting, ...shared } = composer;
  const [chat] = chats ?? [];
  return (
    <FileDrop
      onFiles={(dropped) => shared.attachments.add(dropped)}
      className="relative flex min-h-0 min-w-0 flex-1 flex-col"
    >
      {chat === undefined ? (
        <>
          <div className="flex min-h-0 flex-1 flex-col justify-center overflow-y-auto px-4 py-6">
            <div className="mx-auto w-full max-w-lg">
              <EmptyState
                icon={FlaskConical}
                title="Try an agent"
                text="Give it instructions, choose a model, and send a message. Then view the same as code for your own program."
              >
                <Button variant="outline" onClick={() => fillIn(EXAMPLE)}>
                  Use an example
                </Button>
              </EmptyState>
            </div>
          </div>
          <Composer
            draftKey="playground"
            isBusy={isStarting}
            isStopping={isStarting}
            canSend
            placeholder="Message the agent"
            onStop={() => {}}
            {...shared}
          />
        </>
      ) : (
        <PlaygroundChat {...chat} {...composer} />
      )}
      {errorText !== null && (
        <p role="alert" className="px-4 pb-3 text-center text-sm text-danger-text">
          {errorText}
        </p>
      )}
    </FileDrop>
  );
}
