"use client";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useRef, useState } from "react";
import type { listMcpServersContract } from "@/lib/mcp-servers/contract.ts";
import { type Answer, api } from "../../_api/request.ts";
import { useForm } from "../../_hooks/use-form.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { Button } from "../../_ui/button.tsx";
import { SectionCard } from "../../_ui/card.tsx";
import { SelectField, TextField } from "../../_ui/form.tsx";
import { FormDialog } from "../../_ui/form-dialog.tsx";
import { Loaded, Loading } from "../../_ui/states.tsx";
import { toast } from "../../_ui/toast.tsx";
import { ServerItem, takeStarted } from "./server-item.tsx";

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

const AUTH_TYPES = [
  { value: "oauth", label: "Sign in at the service" },
  { value: "headers", label: "A token or key" },
  { value: "none", label: "None" },
] as const;

/** Official servers, as their vendors document them. */
const PRESETS: Readonly<Record<string, readonly [label: string, url: string, type: string]>> = {
  chartmetric: ["Chartmetric", "https://mcp.chartmetric.com/v1/mcp", "oauth"],
  soundcharts: ["Soundcharts", "https://mcp.soundcharts.com/mcp", "headers"],
  songstats: ["Songstats", "https://api.songstats.com/mcp", "oauth"],
};
const SERVICES = [
  ...Object.entries(PRESETS).map(([value, [label]]) => ({ value, label })),
  { value: "other", label: "Another service" },
];

function valuesOf(preset: string) {
  const [label = "", url = "", type = "oauth"] = PRESETS[preset] ?? [];
  return { preset, name: label.toLowerCase(), url, type, header: "authorization" };
}

type AddServerProps = Readonly<{ onClose: () => void; onAdded: () => void }>;

function AddServer({ onClose, onAdded }: AddServerProps) {
  const form = useForm(
    { ...valuesOf("other"), value: "" },
    {
      name: "Enter up to 32 lowercase letters, digits, and single hyphens between them.",
      url: "Enter an https URL with a public address.",
      auth: "Enter the name and the value of a header.",
    },
  );
  const { type, header, value, name, url } = form.values;
  const onSubmit = async () => {
    const auth = {
      type,
      ...(type === "headers" && { headers: { [header.trim()]: value.trim() } }),
    };
    const body = { name: name.trim(), url: url.trim(), auth };
    const result = await form.send("/api/mcp-servers", { body });
    if (!result.ok) return;
    onAdded();
    onClose();
  };
  return (
    <FormDialog title="Add MCP server" submit="Add server" {...{ form, onSubmit, onClose }}>
      <SelectField
        label="Service"
        options={SERVICES}
        value={form.values.preset}
        onChange={(preset) => form.set(valuesOf(preset))}
      />
      <TextField
        label="Name"
        hint="Part of the names of its tools, such as “charts”."
        maxLength={32}
        autoComplete="off"
        {...form.field("name")}
      />
      <TextField
        label="URL"
        hint="Its endpoint for Streamable HTTP."
        autoComplete="off"
        {...form.field("url")}
      />
      <SelectField label="Authentication" options={AUTH_TYPES} {...form.field("type")} />
      {type === "headers" && (
        <>
          <TextField label="Header" autoComplete="off" {...form.field("header")} />
          <TextField
            label="Value"
            type="password"
            hint="For example “Bearer …”. It is stored encrypted and never shown again."
            autoComplete="off"
            {...form.field("value")}
          />
        </>
      )}
    </FormDialog>
  );
}
