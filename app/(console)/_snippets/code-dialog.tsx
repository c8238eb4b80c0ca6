import { useState } from "react";
import { useChatConnectors } from "../_connectors/connectors-picker.tsx";
import type { CreatedKey } from "../_hooks/shared-reads.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { SmallButton } from "../_ui/button.tsx";
import { CopyButton } from "../_ui/copy-button.tsx";
import { Dialog } from "../_ui/dialog.tsx";
import { KeyRound } from "../_ui/icons.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import { Code } from "../chat/_message/code-block.tsx";
import type { ChatAddress } from "../chat/_state/attachment.ts";
import type { Scenario } from "./scenario.ts";
import { views } from "./snippets.ts";

type CodeDialogProps = Readonly<{ description: string; scenario: Scenario; onClose: () => void }>;

/** Shows how a program does the same, with a key of the account if one is created here. */
export function CodeDialog({ description, scenario, onClose }: CodeDialogProps) {
  // Never stored: it is gone when the dialog closes.
  const [apiKey, setApiKey] = useState<string | null>(null);
  return (
    <Dialog
      title="View as code"
      {...{ description, onClose }}
      className="top-[6vh] max-h-[88vh] max-w-3xl"
    >
      <Tabs defaultValue="curl">
        <TabsList>
          {views.map(({ id, label }) => (
            <TabsTrigger key={id} value={id}>
              {label}
            </TabsTrigger>
          ))}
        </TabsList>
        {views.map(({ id, title, language, textOf }) => {
          const text = textOf(scenario, { baseUrl: location.origin, apiKey });
          return (
            <TabsContent key={id} value={id}>
              <div className="min-w-0 overflow-hidden rounded-lg border bg-muted/50">
                <div className="flex h-9 items-center justify-between gap-2 border-b pr-1 pl-3 text-xs text-muted-foreground">
                  <code className="truncate font-mono">{title}</code>
                  <CopyButton text={text} label={`Copy ${title}`} isSmall />
                </div>
                <Code text={text} language={language} label={title} className="max-h-[42vh]" />
              </div>
            </TabsContent>
          );
        })}
      </Tabs>
      <KeyRow apiKey={apiKey} onCreated={setApiKey} />
    </Dialog>
  );
}

/** The same for a chat that is stored, whose connectors are asked for. */
export function StoredChatCodeDialog(props: CodeDialogProps & { readonly chat: ChatAddress }) {
  const connectors = useChatConnectors(props.chat) ?? [];
  const setup = { ...props.scenario.setup, connectors };
  return <CodeDialog {...props} scenario={{ ...props.scenario, setup }} />;
}

type KeyRowProps = Readonly<{ apiKey: string | null; onCreated: (key: string) => void }>;

function KeyRow({ apiKey, onCreated }: KeyRowProps) {
  const { send, busy, error } = useSubmit();
  const create = async () => {
    const created = await send<CreatedKey>("/api/keys", { body: { key_name: "Code example" } });
    if (created.ok) onCreated(created.data.key);
  };
  return (
    <div className="mt-4 flex flex-wrap items-center justify-between gap-3 rounded-lg border px-3 py-2.5">
      <p className="min-w-0 flex-1 basis-60 text-sm text-muted-foreground" role="status">
        {apiKey === null ? (
          <>
            The code reads your key from <code className="font-mono">AGENT_PLATFORM_API_KEY</code>.
          </>
        ) : (
          "The new key “Code example” is in the code. It is shown only until you close this, and has full access to your account."
        )}
        {error && <span className="block text-danger-text">{error.message}</span>}
      </p>
      {apiKey === null ? (
        <SmallButton icon={KeyRound} busy={busy} onClick={() => void create()}>
          Create a key and insert it
        </SmallButton>
      ) : (
        <CopyButton text={apiKey} label="Copy key" size="sm">
          Copy key
        </CopyButton>
      )}
    </div>
  );
}
