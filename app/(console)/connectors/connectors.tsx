"use client";
import { ShieldCheck } from "lucide-react";
import { useRouter, useSearchParams } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { useScope } from "@/app/(console)/_session/scope.ts";
import { connectionTo } from "@/app/(console)/connectors/connection-state.ts";
import {
  connectorOf,
  groups,
  type KnownConnector,
} from "@/app/(console)/connectors/known-connectors.ts";
import type { listConnectionsContract } from "@/lib/connectors/contract.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { toast } from "../_ui/toast.tsx";
import { AccountField } from "./account-field.tsx";
import { Connect } from "./connect.tsx";
import { ConnectorCard } from "./connector-card.tsx";

const ActionsSheet = lazyComponent(() =>
  import("./actions-sheet.tsx").then((module) => module.ActionsSheet),
);

type List = z.output<(typeof listConnectionsContract.responses)[200]["schema"]>;

/** The page of connectors: services as cards, each with the state of its connection. */
export function Connectors() {
  const { artist, organization } = useScope();
  const given = useSearchParams().get("account");
  const [chosen, setChosen] = useState<string | null | undefined>(given ?? undefined);
  // What the switcher says, until another account is chosen here.
  const accountId = chosen === undefined ? (artist?.id ?? organization?.id ?? null) : chosen;
  const query = accountId === null ? "" : `?account_id=${encodeURIComponent(accountId)}`;
  const { data, error, reload } = useQuery<List>(`/api/connectors${query}`);
  const [shown, setShown] = useState<KnownConnector | null>(null);
  useOutcome();
  const connections = data?.data.connections;
  const begun = [...new Set(connections?.map(({ connector }) => connector) ?? [])];
  const card = (connector: KnownConnector) => (
    <li key={connector.slug} className="min-w-0">
      <ConnectorCard
        connector={connector}
        connection={connectionTo(connector.slug, connections ?? [])}
        accountId={accountId}
        onShowActions={() => setShown(connector)}
        onChanged={reload}
      />
    </li>
  );
  return (
    <Page>
      <PageHeader
        title="Connectors"
        description="Connect the services that you work with, so that agents can use them on your behalf."
      />
      <AccountField value={accountId} onChange={setChosen} />
      <div className="mt-4 mb-8 flex items-start gap-3 rounded-xl border bg-muted/50 px-4 py-3">
        <ShieldCheck aria-hidden className="mt-0.5 size-5 shrink-0 text-success-text" />
        <p className="max-w-3xl text-sm">
          <span className="font-medium">Nothing is used without you.</span> An agent may use a
          connection only in the chats and runs for which it was named. It never sees a password or
          a token, and you can disconnect a service at any time.
        </p>
      </div>
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {error === null && connections === undefined && (
        <div aria-busy="true">
          <p className="sr-only">Loading connections…</p>
          <Skeleton className="h-60 rounded-xl" />
        </div>
      )}
      {connections !== undefined && (
        <div className="space-y-8">
          {begun.length > 0 && (
            <Group title="Your connections">{begun.map((slug) => card(connectorOf(slug)))}</Group>
          )}
          {groups.map(({ title, connectors }) => (
            <Group key={title} title={title}>
              {connectors.filter(({ slug }) => !begun.includes(slug)).map(card)}
            </Group>
          ))}
          <section>
            <h2 className="mb-3 font-semibold">Another service</h2>
            <Connect accountId={accountId} />
          </section>
        </div>
      )}
      {shown !== null && <ActionsSheet connector={shown} onClose={() => setShown(null)} />}
    </Page>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-3 font-semibold">{title}</h2>
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">{children}</ul>
    </section>
  );
}

/** Shows the outcome once, after the consent page has led back here. */
function useOutcome(): void {
  const query = useSearchParams();
  const router = useRouter();
  const status = query.get("status");
  const connector = query.get("connector");
  const account = query.get("account");
  useEffect(() => {
    if (status === null) return;
    const name = connector === null ? "the service" : connectorOf(connector).name;
    if (status === "success") toast(`Connected to ${name}`);
    else toast(`Could not connect to ${name}`, "danger");
    router.replace(
      account === null ? "/connectors" : `/connectors?account=${encodeURIComponent(account)}`,
    );
  }, [status, connector, account, router]);
}
