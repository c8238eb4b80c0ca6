import type { listActionsContract } from "@/lib/connectors/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Dialog } from "../_ui/dialog.tsx";
import { Loaded, Loading } from "../_ui/states.tsx";
import type { KnownConnector } from "./known-connectors.tsx";

type Actions = Answer<typeof listActionsContract>;

type ActionsSheetProps = Readonly<{ connector: KnownConnector; onClose: () => void }>;

/** What an agent can do with a service that it may use. */
export function ActionsSheet({ connector: { slug, name }, onClose }: ActionsSheetProps) {
  const query = useQuery<Actions>(`/api/connectors/${slug}/actions?limit=100`);
  return (
    <Dialog isSheet title={`Actions of ${name}`} onClose={onClose}>
      <p className="mb-4 text-muted-foreground">
        An agent may run these with your connection, in the chats and runs for which you allow{" "}
        {name}.
      </p>
      <Loaded
        query={query}
        loading={<Loading label="Loading actions…" className="h-40 rounded-xl" />}
      >
        {({ data }) => (
          <>
            <ul aria-label="Actions" className="space-y-2">
              {data.actions.map((action) => (
                <li key={action.name} className="rounded-lg border px-3 py-2.5">
                  <code className="font-mono text-xs wrap-anywhere">{action.name}</code>
                  <p className="mt-0.5 text-sm text-muted-foreground">{action.description}</p>
                </li>
              ))}
            </ul>
            {data.nextCursor && (
              <p className="mt-3 text-sm text-muted-foreground">The first 100 actions are shown.</p>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
