import { useRouter } from "next/navigation";
import type { listConnectionsContract } from "@/lib/connectors/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { AnchoredMenu, MenuItem, MenuSeparator } from "../_ui/dropdown-menu.tsx";
import { Check, Plus } from "../_ui/icons.tsx";
import type { MenuState } from "../_ui/menu-button.tsx";
import { CONNECTION_STATES, connectionTo } from "../connectors/connect-service.ts";
import { connectorOf } from "../connectors/known-connectors.tsx";

interface ConnectorsMenuProps {
  readonly state: MenuState;
  readonly chosen: readonly string[];
  readonly onChoose: (connectors: readonly string[]) => void;
}

/** The account's connectors with their state; a click names one for the chat, or takes it away. */
export function ConnectorsMenu({ state, chosen, onChoose }: ConnectorsMenuProps) {
  const router = useRouter();
  const { data, error } = useQuery<Answer<typeof listConnectionsContract>>("/api/connectors");
  const connections = data?.data.connections;
  const slugs = [...new Set([...(connections ?? []).map(({ connector }) => connector), ...chosen])];
  return (
    <AnchoredMenu {...state} label="Connectors">
      <div className="max-h-[50vh] w-72 max-w-[calc(100vw-1rem)] overflow-y-auto">
        <p className="px-2 pt-1 pb-1.5 text-xs text-pretty text-muted-foreground">
          In this chat, the agent may act with the connectors that you choose here, and with no
          other.
        </p>
        {connections === undefined && (
          <p role="status" className="px-2 py-1.5 text-sm text-muted-foreground">
            {error === null ? "Loading connectors…" : "The connectors could not be loaded."}
          </p>
        )}
        {connections !== undefined && slugs.length === 0 && (
          <p className="px-2 py-1.5 text-sm text-muted-foreground">
            You have not connected a service yet: mail, calendars, playlists, spreadsheets.
          </p>
        )}
        {connections !== undefined &&
          slugs.map((slug) => {
            const { name, icon: Icon } = connectorOf(slug);
            const connection = connectionTo(slug, connections);
            const isChosen = chosen.includes(slug);
            const isActive = connection?.status === "active";
            return (
              <MenuItem
                key={slug}
                role="menuitemcheckbox"
                aria-checked={isChosen}
                // One that is no longer connected can still be taken away.
                disabled={!isActive && !isChosen}
                onSelect={(event) => {
                  event.preventDefault();
                  onChoose(isChosen ? chosen.filter((one) => one !== slug) : [...chosen, slug]);
                }}
              >
                <Icon />
                <span className="min-w-0 flex-1 truncate">{name}</span>
                {!isActive && (
                  <span className="text-xs text-muted-foreground">
                    {connection ? CONNECTION_STATES[connection.status].label : "Not connected"}
                  </span>
                )}
                {isChosen && <Check aria-hidden />}
              </MenuItem>
            );
          })}
        <MenuSeparator />
        <MenuItem icon={Plus} onSelect={() => router.push("/connectors")}>
          {slugs.length === 0 ? "Connect a service" : "Manage connectors"}
        </MenuItem>
      </div>
    </AnchoredMenu>
  );
}
