"use client";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import type {
  authorizeMcpServerContract,
  getMcpServerContract,
  listMcpServersContract,
  McpServer,
  McpToolView,
} from "@/lib/mcp-servers/contract.ts";
import { type Answer, api, remove } from "../../_api/request.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { Badge } from "../../_ui/badge.tsx";
import { Button, SmallButton } from "../../_ui/button.tsx";
import { SectionCard } from "../../_ui/card.tsx";
import { ConfirmDialog, Dialog } from "../../_ui/dialog.tsx";
import { ForeignText, InvisibleCount } from "../../_ui/foreign-text.tsx";
import { Loaded, Loading } from "../../_ui/states.tsx";
import { toast } from "../../_ui/toast.tsx";
import { AddServer } from "./add-server.tsx";

/** The MCP servers of the account. The authorization page of a server leads back here. */
export function McpServers() {
  const read = useQuery<Answer<typeof listMcpServersContract>>("/api/mcp-servers?limit=100");
  const [isAdding, setAdding] = useState(false);
  useReturn(read.reload);
  return (
    <SectionCard
      title="MCP servers"
      description="Services whose tools your agents can call, in the chats, runs and schedules that name them. An agent never sees their credentials."
    >
      <Loaded query={read} loading={<Loading label="Loading servers…" className="h-40" />}>
        {({ servers }) => (
          <>
            {servers.length === 0 && <p className="text-muted-foreground">No servers yet.</p>}
            <ul aria-label="MCP servers" className="space-y-3">
              {servers.map((server) => (
                <ServerItem key={server.id} server={server} onChanged={read.reload} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
      <Button className="mt-4" variant="outline" onClick={() => setAdding(true)}>
        Add server
      </Button>
      {isAdding && <AddServer onClose={() => setAdding(false)} onAdded={read.reload} />}
    </SectionCard>
  );
}

/** Completes an authorization that this tab has started, once. */
function useReturn(onConnected: () => void): void {
  const query = useSearchParams();
  const router = useRouter();
  const isHandled = useRef(false);
  const state = query.get("state");
  const code = query.get("code");
  const iss = query.get("iss");
  useEffect(() => {
    if (state === null || isHandled.current) return;
    isHandled.current = true;
    const complete = async () => {
      // Another browser's authorization is not this one's.
      if (takeStarted() !== state || code === null) return false;
      const body = { state, code, ...(iss !== null && { iss }) };
      return (await api("/api/mcp-servers/authorizations", { body })).ok;
    };
    void complete().then((isConnected) => {
      if (isConnected) toast("Connected");
      else toast("The server could not be connected. Try again.", "danger");
      router.replace("/settings/mcp-servers");
      onConnected();
    });
  }, [state, code, iss, router, onConnected]);
}

/** Stored for this tab only: an authorization is completed by the tab that started it. */
const STARTED = "mcp-authorization";

/** Returns the state of the authorization that this tab has started, once. */
function takeStarted(): string | null {
  const state = sessionStorage.getItem(STARTED);
  sessionStorage.removeItem(STARTED);
  return state;
}

/** A server, its state, and buttons to change it. */
function ServerItem({ server, onChanged }: Readonly<{ server: McpServer; onChanged: () => void }>) {
  const { id, name, url, enabled, auth, tool_counts: counts, refresh_error: error } = server;
  const path = `/api/mcp-servers/${id}`;
  const { send, busy } = useSubmit();
  const [isShown, setShown] = useState(false);
  const change = async (action: Promise<{ readonly ok: boolean }>) => {
    if (!(await action).ok) toast(`${name} could not be changed`, "danger");
    onChanged();
  };
  const connect = async () => {
    const result = await send<Answer<typeof authorizeMcpServerContract>>(`${path}/authorize`);
    if (!result.ok) return toast(`${name}: ${result.error.message}`, "danger");
    const state = new URL(result.data.url).searchParams.get("state");
    if (state !== null) sessionStorage.setItem(STARTED, state);
    location.assign(result.data.url);
  };
  return (
    <li aria-label={name} className="rounded-lg border px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{name}</span>
        {!enabled && <Badge>Off</Badge>}
        {!auth.is_connected && <Badge tone="warning">Not connected</Badge>}
        {counts.changed > 0 && <Badge tone="warning">{counts.changed} changed</Badge>}
      </div>
      <p className="text-sm wrap-anywhere text-muted-foreground">{url}</p>
      {auth.is_connected && error !== null && (
        <p className="mt-1 text-sm text-danger-text">{error}</p>
      )}
      <div className="mt-2 flex flex-wrap gap-1">
        {auth.type === "oauth" && (
          <SmallButton {...{ busy }} onClick={() => void connect()}>
            {auth.is_connected ? "Connect again" : "Connect"}
          </SmallButton>
        )}
        <SmallButton variant="ghost" onClick={() => setShown(true)}>
          Tools ({counts.known + counts.changed + counts.new})
        </SmallButton>
        <SmallButton variant="ghost" onClick={() => change(send(`${path}/refresh`))}>
          Refresh
        </SmallButton>
        <SmallButton
          variant="ghost"
          onClick={() => change(send(path, { method: "PATCH", body: { enabled: !enabled } }))}
        >
          {enabled ? "Turn off" : "Turn on"}
        </SmallButton>
        <ConfirmDialog
          title={`Delete ${name}?`}
          description="Agents can no longer use it, also in chats and schedules that name it."
          confirm="Delete"
          onConfirm={() => remove(path)}
          onDone={onChanged}
          button={{ size: "sm", className: "ml-auto" }}
        />
      </div>
      {isShown && <Tools {...{ name, path, onChanged }} onClose={() => setShown(false)} />}
    </li>
  );
}

type ToolsProps = Readonly<
  Record<"name" | "path", string> & Record<"onClose" | "onChanged", () => void>
>;

function Tools({ name, path, onClose, onChanged }: ToolsProps) {
  const query = useQuery<Answer<typeof getMcpServerContract>>(path);
  const { send, busy } = useSubmit();
  const confirm = async ({ name: tool, sha256 }: McpToolView) => {
    const body = { tools: [{ name: tool, sha256 }] };
    const result = await send(`${path}/confirm`, { body });
    if (!result.ok) toast("The tool has changed again. Read it first.", "danger");
    query.reload();
    onChanged();
  };
  return (
    <Dialog isSheet title={`Tools of ${name}`} onClose={onClose}>
      <Loaded query={query} loading={<Loading label="Loading tools…" className="h-40" />}>
        {({ server }) => (
          <ul aria-label="Tools" className="space-y-2">
            {server.tools.map((tool) => (
              <li key={tool.name} className="rounded-lg border px-3 py-2.5">
                <div className="flex flex-wrap items-center gap-2">
                  <code className="font-mono text-xs wrap-anywhere">{tool.name}</code>
                  {tool.read_only && <Badge>Reads only</Badge>}
                  {tool.state === "changed" && <Badge tone="warning">Changed</Badge>}
                  {tool.fault !== null && <Badge tone="danger">Not usable</Badge>}
                </div>
                <p className="mt-0.5 text-sm wrap-anywhere text-muted-foreground">
                  <ForeignText text={tool.fault ?? tool.description} />
                </p>
                {tool.change !== null && (
                  <div className="mt-2 text-sm">
                    <Definition title="Before" of={tool.change.before} />
                    <Definition title="Now" of={tool.change.after} />
                    <Button size="sm" {...{ busy }} onClick={() => void confirm(tool)}>
                      Confirm change
                    </Button>
                  </div>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Dialog>
  );
}

type Defined = NonNullable<McpToolView["change"]>["before"];

function Definition({ title, of }: { readonly title: string; readonly of: Defined }) {
  const schema = JSON.stringify(of.input_schema, null, 2);
  const text = `${of.description}\n${of.read_only ? "Reads only\n" : ""}${schema}`;
  return (
    <>
      <p className="font-medium">{title}</p>
      <InvisibleCount text={text} />
      <pre className="mb-2 whitespace-pre-wrap wrap-anywhere text-muted-foreground">
        <ForeignText text={text} />
      </pre>
    </>
  );
}
