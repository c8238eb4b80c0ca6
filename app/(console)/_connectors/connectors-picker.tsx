import { api } from "../_api/request.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { cn } from "../_ui/class-names.ts";
import { Plug } from "../_ui/icons.tsx";
import { MenuButton } from "../_ui/menu-button.tsx";
import { toast } from "../_ui/toast.tsx";
import { pathOf } from "../chat/_list/row-target.ts";
import type { ChatAddress } from "../chat/_state/attachment.ts";

const ConnectorsMenu = lazyComponent(() => import("./connectors-menu.tsx"), "ConnectorsMenu");

interface ConnectorsPickerProps {
  /** The slugs; undefined while they are loaded. */
  readonly chosen: readonly string[] | undefined;
  readonly isField?: boolean;
  readonly onChoose: (connectors: readonly string[]) => void;
}

/** A button that shows how many connectors the agent may use and opens the list of connected ones. */
export function ConnectorsPicker({ chosen, isField = false, onChoose }: ConnectorsPickerProps) {
  const count = chosen?.length ?? 0;
  return (
    <div className="relative flex">
      <MenuButton
        aria-label={count === 0 ? "Connectors: none" : `Connectors: ${count}`}
        title="Connectors that the agent may use in this chat"
        disabled={chosen === undefined}
        menu={(state) =>
          state.open && chosen !== undefined && <ConnectorsMenu {...{ state, chosen, onChoose }} />
        }
        className={cn(
          "flex items-center rounded-lg text-sm hover:bg-hover disabled:opacity-55",
          isField
            ? "h-9 w-full gap-2 border border-input bg-surface px-3"
            : "h-8 gap-1 px-2 text-muted-foreground",
        )}
      >
        <Plug aria-hidden className="size-4 text-muted-foreground" />
        {(isField || count > 0) && (
          <span className="tabular-nums">{count > 0 ? count : "None"}</span>
        )}
      </MenuButton>
    </div>
  );
}

interface ChatConnectorsProps extends Pick<ConnectorsPickerProps, "chosen"> {
  readonly address: ChatAddress;
  readonly onChosen: (connectors: readonly string[] | undefined) => void;
}

export function ChatConnectors({ address, chosen, onChosen }: ChatConnectorsProps) {
  const choose = async (connectors: readonly string[]) => {
    onChosen(connectors);
    if ((await chooseConnectors(address, connectors)).ok) return;
    toast("The connectors could not be changed. Try again.", "danger");
    onChosen(chosen);
  };
  return <ConnectorsPicker chosen={chosen} onChoose={(next) => void choose(next)} />;
}

type Chosen = Readonly<{ connectors: readonly string[] }>;

export const chooseConnectors = (address: ChatAddress, connectors: readonly string[]) =>
  api<Chosen>(`${pathOf(address)}/connectors`, { method: "PUT", body: { connectors } });

/** Returns the connectors that the agent may use in a chat; undefined until they are known. */
export const useChatConnectors = (address: ChatAddress) =>
  useQuery<Chosen>(`${pathOf(address)}/connectors`).data?.connectors;
