import { useSearchParams } from "next/navigation";
import { useState } from "react";
import type { LoggedRequest } from "@/lib/requests/contract.ts";
import { withQuery } from "../../_api/with-query.ts";
import { useKeys } from "../../_hooks/shared-reads.ts";
import { usePages } from "../../_hooks/use-pages.ts";
import { Badge } from "../../_ui/badge.tsx";
import { Button, ButtonLink, IconButton, SmallButton } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyableId } from "../../_ui/copy-button.tsx";
import { Dialog } from "../../_ui/dialog.tsx";
import { Fact, Facts } from "../../_ui/facts.tsx";
import { Segmented, Select } from "../../_ui/form.tsx";
import { formatDateTime, formatDuration } from "../../_ui/format.ts";
import { ListFilter, RefreshCw, ScrollText, SearchX } from "../../_ui/icons.tsx";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { EmptyState, PagedList } from "../../_ui/states.tsx";
import { listHeadStyle } from "../../_ui/table.tsx";

const STATUSES = [
  { value: "", label: "All" },
  { value: "2xx", label: "Succeeded" },
  { value: "4xx", label: "Refused" },
  { value: "5xx", label: "Failed" },
] as const;

/**
 * The requests of the account, newest first. It is not loaded again by itself, because each time would
 * be one more request in the list.
 */
export function RequestLog() {
  const query = useSearchParams();
  const status = STATUSES.find(({ value }) => value === query.get("status"))?.value ?? "";
  const route = query.get("route") ?? "";
  const key = query.get("key") ?? "";
  const change = (next: Readonly<Record<string, string>>) => {
    const chosen = { tab: "requests", status, route, key, ...next };
    history.replaceState(null, "", withQuery("/usage", chosen));
  };
  const credential = key in CREDENTIAL_LABELS ? "credential" : "api_key_id";
  const path = withQuery("/api/requests", { status, route, [credential]: key });
  const requests = usePages<LoggedRequest>(path, "requests");
  const keys = useKeys().data?.keys ?? [];
  const { items, loading, refresh } = requests;
  const [open, setOpen] = useState<LoggedRequest | null>(null);
  const routes = [
    ...new Set([...(route ? [route] : []), ...(items ?? []).map((one) => one.route)]),
  ];
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <Segmented
          label="Status"
          hideLabel
          options={STATUSES}
          value={status}
          onChange={(next) => change({ status: next })}
        />
        <Select
          aria-label="Endpoint"
          className="w-60 max-sm:flex-1 max-sm:basis-[35%]"
          value={route}
          onChange={(next) => change({ route: next })}
          options={[
            { value: "", label: "All endpoints" },
            ...routes.toSorted().map((one) => ({ value: one, label: one })),
          ]}
        />
        <Select
          aria-label="Credential"
          className="w-44 max-sm:flex-1 max-sm:basis-[35%]"
          value={key}
          onChange={(next) => change({ key: next })}
          options={[
            { value: "", label: "All credentials" },
            ...Object.entries(CREDENTIAL_LABELS).map(([value, label]) => ({ value, label })),
            ...keys.map(({ id, key_name }) => ({ value: id, label: `Key: ${key_name}` })),
          ]}
        />
        <IconButton
          icon={RefreshCw}
          isLarge
          label="Refresh"
          className="ml-auto"
          busy={loading}
          onClick={refresh}
        />
      </div>
      <PagedList
        label="Requests"
        pages={requests}
        loadingRows={8}
        head={
          <div aria-hidden className={cn(listHeadStyle, columns, "max-md:hidden")}>
            <span>Status</span>
            <span>Request</span>
            <span>Credential</span>
            <span className="text-right">Duration</span>
            <span className="text-right">Time</span>
          </div>
        }
        empty={
          path === "/api/requests" ? (
            <EmptyState
              icon={ScrollText}
              title="No requests yet"
              text="Each request of your API keys is listed here about a second after its response, for 7 days unless this server is set up otherwise."
            >
              <ButtonLink href="/keys">Create API key</ButtonLink>
            </EmptyState>
          ) : (
            <EmptyState
              icon={SearchX}
              title="No matching requests"
              text="No request of the last days matches these filters."
            >
              <Button variant="outline" onClick={() => change({ status: "", route: "", key: "" })}>
                Clear filters
              </Button>
            </EmptyState>
          )
        }
        keyOf={({ id }) => id}
      >
        {(request) => (
          <Row
            request={request}
            credential={credentialOf(request, keys)}
            onOpen={() => setOpen(request)}
          />
        )}
      </PagedList>
      {open !== null && (
        <RequestPanel
          request={open}
          credential={credentialOf(open, keys)}
          onClose={() => setOpen(null)}
          onFilter={() => {
            setOpen(null);
            change({ route: open.route });
          }}
        />
      )}
    </>
  );
}

const columns =
  "grid grid-cols-[3.25rem_minmax(0,1fr)_auto] items-center gap-x-3 md:grid-cols-[3.25rem_minmax(0,1fr)_11rem_5rem_6rem]";

type RowProps = Readonly<{ request: LoggedRequest; credential: string; onOpen: () => void }>;

const Row = ({ request, credential, onOpen }: RowProps) => (
  <button
    type="button"
    onClick={onOpen}
    className={cn(
      columns,
      "w-full px-4 py-2 text-left hover:bg-muted/60 focus-visible:-outline-offset-2",
    )}
  >
    <span>
      <StatusBadge status={request.status} />
    </span>
    <span className="truncate font-mono text-[0.8125rem]">
      <span className="text-muted-foreground">{request.method}</span> {request.route}
    </span>
    <span className="truncate text-sm text-muted-foreground max-md:hidden">{credential}</span>
    <span className="text-right text-sm text-muted-foreground tabular-nums max-md:hidden">
      {formatDuration(request.duration_ms)}
    </span>
    <RelativeTime
      date={request.created_at}
      className="text-right text-sm whitespace-nowrap text-muted-foreground"
    />
  </button>
);

type RequestPanelProps = Omit<RowProps, "onOpen"> &
  Readonly<{ onClose: () => void; onFilter: () => void }>;

const RequestPanel = ({ request, credential, onClose, onFilter }: RequestPanelProps) => (
  <Dialog isSheet title={`${request.method} ${request.route}`} onClose={onClose}>
    <Facts className="items-center gap-x-6 gap-y-2.5">
      <Fact name="Status">
        <StatusBadge status={request.status} />
      </Fact>
      <Fact name="Time">{formatDateTime(request.created_at)}</Fact>
      <Fact name="Duration">{formatDuration(request.duration_ms)}</Fact>
      <Fact name="Credential">{credential}</Fact>
      <Fact name="Request ID">
        <CopyableId id={request.request_id} label="Copy request ID" />
      </Fact>
    </Facts>
    <p className="mt-5 text-sm text-muted-foreground">
      Bodies, query strings and addresses are not kept. The duration is the time until the response
      was ready; the chunks of a stream come after it. Name the request ID when you ask for help: it
      is in the server&apos;s log, too.
    </p>
    <SmallButton icon={ListFilter} className="mt-4" onClick={onFilter}>
      Only this endpoint
    </SmallButton>
  </Dialog>
);

/** An HTTP status, in color if the request was refused or failed. */
export function StatusBadge({ status }: { readonly status: number }) {
  const tone = status >= 500 ? "danger" : status >= 400 ? "warning" : "neutral";
  return (
    <Badge tone={tone} className="tabular-nums">
      {status}
    </Badge>
  );
}

export const CREDENTIAL_LABELS = {
  api_key: "API keys",
  bearer: "Console and bearer",
  run: "Sandboxes of runs",
} as const satisfies Record<LoggedRequest["credential"], string>;

/** Returns the credential of a request, in words. */
export function credentialOf(
  { credential, api_key_id }: LoggedRequest,
  keys: readonly { readonly id: string; readonly key_name: string }[],
): string {
  if (credential !== "api_key") return CREDENTIAL_LABELS[credential];
  return keys.find(({ id }) => id === api_key_id)?.key_name ?? "Revoked key";
}
