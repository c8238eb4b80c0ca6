"use client";
import { useRouter, useSearchParams } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";
import type {
  Connection,
  listActionsContract,
  listConnectionsContract,
} from "@/lib/connectors/contract.ts";
import { type Answer, remove } from "../_api/request.ts";
import { useOrganizations } from "../_hooks/shared-reads.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { useScope } from "../_session/scope.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button, SmallButton } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { ConfirmDialog, Dialog } from "../_ui/dialog.tsx";
import { Form, SelectField, TextField } from "../_ui/form.tsx";
import { formatDate } from "../_ui/format.ts";
import { ShieldCheck } from "../_ui/icons.tsx";
import { Page } from "../_ui/page-header.tsx";
import { Loaded, Loading } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { CONNECTION_STATES, connectionTo, useConnect } from "./connect-service.ts";
import { connectorOf, groups, type KnownConnector } from "./known-connectors.tsx";

/** The page of connectors: services as cards, each with the state of its connection. */
export function Connectors() {
  const { artist, organization } = useScope();
  const given = useSearchParams().get("account");
  const [chosen, setChosen] = useState<string | null | undefined>(given ?? undefined);
  // The account of the switcher, until another one is chosen here.
  const accountId = chosen === undefined ? (artist?.id ?? organization?.id ?? null) : chosen;
  const query = accountId === null ? "" : `?account_id=${encodeURIComponent(accountId)}`;
  const read = useQuery<Answer<typeof listConnectionsContract>>(`/api/connectors${query}`);
  const [shown, setShown] = useState<KnownConnector | null>(null);
  useOutcome();
  const connections = read.data?.data.connections ?? [];
  const begun = [...new Set(connections.map(({ connector }) => connector))];
  const card = (connector: KnownConnector) => (
    <li key={connector.slug} className="min-w-0">
      <ConnectorCard
        connector={connector}
        connection={connectionTo(connector.slug, connections)}
        accountId={accountId}
        onShowActions={() => setShown(connector)}
        onChanged={read.reload}
      />
    </li>
  );
  return (
    <Page
      title="Connectors"
      description="Connect the services that you work with, so that agents can use them on your behalf."
    >
      <AccountField value={accountId} onChange={setChosen} />
      <div className="mt-4 mb-8 flex items-start gap-3 rounded-xl border bg-muted/50 px-4 py-3">
        <ShieldCheck aria-hidden className="mt-0.5 size-5 shrink-0 text-success-text" />
        <p className="max-w-3xl text-sm">
          <span className="font-medium">Nothing is used without you.</span> An agent may use a
          connection only in the chats and runs for which it was named. It never sees a password or
          a token, and you can disconnect a service at any time.
        </p>
      </div>
      <Loaded
        query={read}
        loading={<Loading label="Loading connections…" className="h-60 rounded-xl" />}
      >
        {() => (
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
      </Loaded>
      {shown !== null && <ActionsSheet connector={shown} onClose={() => setShown(null)} />}
    </Page>
  );
}

const Group = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title}>
    <h2 className="mb-3 font-semibold">{title}</h2>
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">{children}</ul>
  </section>
);

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

function Connect({ accountId }: { readonly accountId: string | null }) {
  const [slug, setSlug] = useState("");
  const { connect, busy, errorText } = useConnect(accountId);
  return (
    <Card>
      <Form
        onSubmit={() => connect(slug.trim().toLowerCase())}
        className="flex flex-wrap items-start gap-3"
      >
        <TextField
          label="Service"
          error={errorText}
          hint="The short name of the service, such as bandcamp."
          className="min-w-52 flex-1 max-sm:basis-full"
          required
          maxLength={64}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={slug}
          onChange={setSlug}
        />
        <Button type="submit" variant="outline" busy={busy} className="sm:mt-6.5">
          Connect
        </Button>
      </Form>
    </Card>
  );
}

interface AccountFieldProps {
  /** Null for the person's own account. */
  readonly value: string | null;
  readonly onChange: (accountId: string | null) => void;
}

/** Chooses whose connections are shown: the person's, the chosen artist's, or an organization's. */
function AccountField({ value, onChange }: AccountFieldProps) {
  const { artist } = useScope();
  const organizations = useOrganizations();
  if (artist === null && organizations.length === 0 && value === null) return null;
  const names = new Map([
    ["", "My account"],
    ...(artist === null ? [] : [[artist.id, artist.name] as const]),
    ...organizations.map((one) => [one.organization_id, one.organization_name] as const),
  ]);
  if (value !== null && !names.has(value)) names.set(value, "Other account");
  return (
    <SelectField
      label="Connections of"
      className="w-full sm:w-64"
      value={value ?? ""}
      onChange={(value) => onChange(value || null)}
      options={[...names].map(([value, label]) => ({ value, label }))}
    />
  );
}

/** A service, the state of its connection, and buttons to change it. */
function ConnectorCard({
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
          <SmallButton
            aria-label={`Connect ${name}`}
            busy={busy}
            onClick={async () => {
              const failure = await connect(slug);
              if (failure !== null) toast(failure, "danger");
            }}
          >
            Connect
          </SmallButton>
        )}
        <SmallButton variant="ghost" aria-label={`Actions of ${name}`} onClick={onShowActions}>
          Actions
        </SmallButton>
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
            button={{
              size: "sm",
              className: "ml-auto",
              "aria-label": `${isActive ? "Disconnect" : "Remove"} ${name}`,
              children: isActive ? "Disconnect" : "Remove",
            }}
          />
        )}
      </div>
    </article>
  );
}

type ActionsSheetProps = Readonly<{ connector: KnownConnector; onClose: () => void }>;

/** The actions of a service that an agent may run. */
function ActionsSheet({ connector: { slug, name }, onClose }: ActionsSheetProps) {
  const path = `/api/connectors/${slug}/actions?limit=100`;
  const query = useQuery<Answer<typeof listActionsContract>>(path);
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
