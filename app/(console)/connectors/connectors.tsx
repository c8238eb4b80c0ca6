"use client";
import { Plug } from "lucide-react";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect } from "react";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { Connection, listConnectionsContract } from "@/lib/connectors/contract.ts";
import { Badge } from "../_ui/badge.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { formatDateTime } from "../_ui/format-time.ts";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { toast } from "../_ui/toast.tsx";
import { Connect } from "./connect.tsx";

type List = z.output<(typeof listConnectionsContract.responses)[200]["schema"]>;

const states = {
  active: { tone: "success", label: "Connected" },
  pending: { tone: "warning", label: "Pending" },
  expired: { tone: "neutral", label: "Expired" },
  failed: { tone: "danger", label: "Not connected" },
  inactive: { tone: "neutral", label: "Inactive" },
} as const;

/** The page of connectors: the account's connections and a form to add one. */
export function Connectors() {
  const { data, error, reload } = useQuery<List>("/api/connectors");
  useOutcome();
  const connections = data?.data.connections;
  return (
    <Page>
      <PageHeader
        title="Connectors"
        description="Connect third-party services that agents can use on your behalf."
      />
      <Connect />
      <h2 className="mt-8 mb-3 font-semibold">Your connections</h2>
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {error === null && connections === undefined && (
        <div aria-busy="true">
          <p className="sr-only">Loading connections…</p>
          <Skeleton className="h-40 rounded-xl" />
        </div>
      )}
      {connections?.length === 0 && (
        <EmptyState
          icon={Plug}
          title="No connections yet"
          text="Choose a service above. It will show you what it gives access to before you agree."
        />
      )}
      {connections !== undefined && connections.length > 0 && <List connections={connections} />}
    </Page>
  );
}

function List({ connections }: { readonly connections: readonly Connection[] }) {
  return (
    <Table label="Connections">
      <thead>
        <tr>
          <HeadCell>Service</HeadCell>
          <HeadCell>Status</HeadCell>
          <HeadCell>Updated</HeadCell>
        </tr>
      </thead>
      <tbody>
        {connections.map(({ id, connector, status, updatedAt }) => (
          <tr key={id}>
            <Cell className="font-medium wrap-anywhere">{connector}</Cell>
            <Cell>
              <Badge tone={states[status].tone}>{states[status].label}</Badge>
            </Cell>
            <Cell className="whitespace-nowrap text-muted-foreground">
              <time dateTime={updatedAt}>{formatDateTime(updatedAt)}</time>
            </Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** Shows the outcome once, after the consent page has led back here. */
function useOutcome(): void {
  const query = useSearchParams();
  const router = useRouter();
  const status = query.get("status");
  const connector = query.get("connector") ?? "the service";
  useEffect(() => {
    if (status === null) return;
    if (status === "success") toast(`Connected to ${connector}`);
    else toast(`Could not connect to ${connector}`, "danger");
    router.replace("/connectors");
  }, [status, connector, router]);
}
