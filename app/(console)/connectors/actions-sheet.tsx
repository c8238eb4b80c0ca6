"use client";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { KnownConnector } from "@/app/(console)/connectors/known-connectors.ts";
import type { listActionsContract } from "@/lib/connectors/contract.ts";
import { ErrorState } from "../_ui/error-state.tsx";
import { Sheet } from "../_ui/sheet.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";

type Actions = z.output<(typeof listActionsContract)["responses"][200]["schema"]>;

/** What an agent can do with a service that it may use. */
export function ActionsSheet({
  connector: { slug, name },
  onClose,
}: {
  readonly connector: KnownConnector;
  readonly onClose: () => void;
}) {
  const { data, error, reload } = useQuery<Actions>(`/api/connectors/${slug}/actions?limit=100`);
  return (
    <Sheet title={`Actions of ${name}`} onClose={onClose}>
      <p className="mb-4 text-muted-foreground">
        An agent may run these with your connection, in the chats and runs for which you allow{" "}
        {name}.
      </p>
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {error === null && data === undefined && (
        <div aria-busy="true">
          <p className="sr-only">Loading actions…</p>
          <Skeleton className="h-40 rounded-xl" />
        </div>
      )}
      {data !== undefined && (
        <ul aria-label="Actions" className="space-y-2">
          {data.data.actions.map((action) => (
            <li key={action.name} className="rounded-lg border px-3 py-2.5">
              <code className="font-mono text-xs wrap-anywhere">{action.name}</code>
              <p className="mt-0.5 text-sm text-muted-foreground">{action.description}</p>
            </li>
          ))}
        </ul>
      )}
      {data?.data.nextCursor && (
        <p className="mt-3 text-sm text-muted-foreground">The first 100 actions are shown.</p>
      )}
    </Sheet>
  );
}
