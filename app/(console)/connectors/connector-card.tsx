"use client";
import type { Connection } from "@/lib/connectors/contract.ts";
import { remove } from "../_api/request.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button } from "../_ui/button.tsx";
import { ConfirmDialog } from "../_ui/dialog.tsx";
import { formatDate } from "../_ui/format.ts";
import { toast } from "../_ui/toast.tsx";
import { CONNECTION_STATES, useConnect } from "./connect-service.ts";
import type { KnownConnector } from "./known-connectors.tsx";

/** A service with the state of its connection, and what can be done about it. */
export function ConnectorCard({
  connector: { slug, name, text, icon: Icon },
  connection,
  accountId,
  onShowActions,
  onChanged,
}: {
  readonly connector: KnownConnector;
  readonly connection: Connection | undefined;
  /** Null for the person's own account. */
  readonly accountId: string | null;
  readonly onShowActions: () => void;
  readonly onChanged: () => void;
}) {
  const { connect, busy } = useConnect(accountId);
  const query = accountId === null ? "" : `?account_id=${accountId}`;
  const isActive = connection?.status === "active";
  return (
    <article
      aria-label={name}
      className="flex h-full flex-col rounded-xl border bg-surface p-4 shadow-xs"
    >
      <div className="flex items-center gap-3">
        <span className="grid size-10 shrink-0 place-items-center rounded-lg bg-muted text-foreground">
          <Icon className="size-5" />
        </span>
        <div className="min-w-0 flex-1">
          <h3 className="font-semibold wrap-anywhere">{name}</h3>
          {connection !== undefined && (
            <Badge tone={CONNECTION_STATES[connection.status].tone}>
              {CONNECTION_STATES[connection.status].label}
            </Badge>
          )}
        </div>
      </div>
      <p className="mt-3 flex-1 text-sm text-muted-foreground">{text}</p>
      {isActive && (
        <p className="mt-2 text-xs text-muted-foreground">
          Since <time dateTime={connection.updatedAt}>{formatDate(connection.updatedAt)}</time>
        </p>
      )}
      <div className="mt-3 flex flex-wrap gap-1">
        {!isActive && (
          <Button
            variant="outline"
            size="sm"
            aria-label={`Connect ${name}`}
            busy={busy}
            onClick={async () => {
              const failure = await connect(slug);
              if (failure !== null) toast(failure, "danger");
            }}
          >
            Connect
          </Button>
        )}
        <Button variant="ghost" size="sm" aria-label={`Actions of ${name}`} onClick={onShowActions}>
          Actions
        </Button>
        {connection !== undefined && (
          <ConfirmDialog
            title={`Disconnect ${name}?`}
            description="Agents can no longer use it, also in chats and schedules that name it, and its triggers are deleted. You can connect it again at any time."
            confirm="Disconnect"
            onConfirm={() => remove(`/api/connectors/${slug}${query}`)}
            onDone={() => {
              toast(`${name} disconnected`);
              onChanged();
            }}
            trigger={
              <Button
                variant="danger-ghost"
                size="sm"
                className="ml-auto"
                aria-label={`${isActive ? "Disconnect" : "Remove"} ${name}`}
              >
                {isActive ? "Disconnect" : "Remove"}
              </Button>
            }
          />
        )}
      </div>
    </article>
  );
}
