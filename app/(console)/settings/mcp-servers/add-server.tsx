"use client";
import type { mcpClientMetadataContract } from "@/lib/mcp-servers/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useForm } from "../../_hooks/use-form.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { SelectField, TextField } from "../../_ui/form.tsx";
import { FormDialog } from "../../_ui/form-dialog.tsx";

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
  const client = { client_id: "", client_secret: "" };
  return { preset, name: label.toLowerCase(), url, type, header: "authorization", ...client };
}

type AddServerProps = Readonly<{ onClose: () => void; onAdded: () => void }>;

/** The form that adds an MCP server. */
export function AddServer({ onClose, onAdded }: AddServerProps) {
  const metadata = useQuery<Answer<typeof mcpClientMetadataContract>>(
    "/api/mcp-servers/client-metadata",
  );
  const redirectUri = metadata.data?.redirect_uris[0] ?? "…";
  const form = useForm(
    { ...valuesOf("other"), value: "" },
    {
      name: "Enter up to 32 lowercase letters, digits, and single hyphens between them.",
      url: "Enter an https URL with a public address.",
      auth: "Enter the name and the value of a header, or the ID of a client.",
    },
  );
  const { type, header, value, name, url, client_id, client_secret } = form.values;
  const [id, secret] = [client_id.trim(), client_secret.trim()];
  const onSubmit = async () => {
    const auth = {
      type,
      ...(type === "headers" && { headers: { [header.trim()]: value.trim() } }),
      ...(type === "oauth" && id !== "" && { client_id: id }),
      ...(type === "oauth" && secret !== "" && { client_secret: secret }),
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
      {type === "oauth" && (
        <>
          <TextField
            label="Client ID (optional)"
            hint={`Only for services where you register a client yourself, with the redirect URI ${redirectUri}`}
            autoComplete="off"
            {...form.field("client_id")}
          />
          <TextField
            label="Client secret (optional)"
            type="password"
            hint="It is stored encrypted and never shown again."
            autoComplete="off"
            {...form.field("client_secret")}
          />
        </>
      )}
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
