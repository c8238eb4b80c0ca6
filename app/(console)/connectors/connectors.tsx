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
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { toast } from "../_ui/toast.tsx";
import { Connect } from "./connect.tsx";

type List = z.output<(typeof listConnectionsContract.responses)[200]["schema"]>;

const states = {
  active: { tone: "success", label: "Connected" },
  pending: { tone: "warning", label: "Waiting for you" },
  expired: { tone: "neutral", label: "Expired" },
  failed: { tone: "danger", label: "Not connected" },
  inactive: { tone: "neutral", label: "Inactive" },
} as const;

const momentOf = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** The account's connections, and the way to one more. Connecting ends here again. */
export function Connectors() {
  const { data, error, reload } = useQuery<List>("/api/connectors");
  useOutcome();
  const connections = data?.data.connections;
  return (
    <Page>
      <PageHeader
        title="Connectors"
        description="Third-party services that agents may use for you. You agree at the service itself, and come back here."
      />
      <Connect />
      <h2 className="mt-8 mb-3 font-semibold">Your connections</h2>
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {error === null && connections === undefined && (
        <div aria-busy="true">
          <p className="sr-only">Loading connections</p>
          <Skeleton className="h-40 rounded-xl" />
        </div>
      )}
      {connections?.length === 0 && (
        <EmptyState
          icon={Plug}
          title="Nothing is connected"
          text="Choose a service above. You can look at what it asks for before you agree."
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
          <HeadCell>State</HeadCell>
          <HeadCell>Since</HeadCell>
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
              <time dateTime={updatedAt}>{momentOf.format(new Date(updatedAt))}</time>
            </Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** Says once how it went, when the service has sent the person back. */
function useOutcome(): void {
  const query = useSearchParams();
  const router = useRouter();
  const status = query.get("status");
  const connector = query.get("connector") ?? "The service";
  useEffect(() => {
    if (status === null) return;
    if (status === "success") toast(`${connector} is connected`);
    else toast(`${connector} was not connected`, "danger");
    router.replace("/connectors");
  }, [status, connector, router]);
}
