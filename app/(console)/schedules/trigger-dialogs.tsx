/** The dialogs that create a trigger and show its secret. */
import type {
  listConnectionsContract,
  listConnectorEventsContract,
} from "@/lib/connectors/contract.ts";
import type { createTriggerContract, Trigger } from "@/lib/triggers/contract.ts";
import type { Answer } from "../_api/request.ts";
import { parseJson, useForm } from "../_hooks/use-form.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { CopyableText } from "../_ui/copy-button.tsx";
import { Dialog, DialogActions } from "../_ui/dialog.tsx";
import { SelectField, TextareaField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { connectorOf } from "../connectors/known-connectors.tsx";

const senders = [
  { value: "", label: "Any program, with a secret" },
  { value: "standard", label: "Standard Webhooks" },
  { value: "github", label: "GitHub" },
  { value: "slack", label: "Slack" },
] as const;

/** Returns what starts the runs of a trigger, such as “GitHub” or “New message in Gmail”. */
export function titleOf(trigger: Trigger): string {
  if (trigger.kind === "webhook") {
    return senders.find(({ value }) => value === (trigger.signature ?? ""))?.label ?? "";
  }
  const { connector, event } = trigger;
  const words = event.toLowerCase().replaceAll(`${connector}_`, "").replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} in ${connectorOf(connector).name}`;
}

type Created = Answer<typeof createTriggerContract>;
export type CreatedWebhook = Extract<Created, { readonly kind: "webhook" }>;

/** A dialog to create a trigger. */
export function CreateTrigger({
  path,
  onCreated,
  onClose,
}: {
  readonly path: string;
  readonly onCreated: (trigger: Created) => void;
  readonly onClose: () => void;
}) {
  const form = useForm(
    { signature: "", secret: "", connector: "", event: "", config: "" },
    {
      secret: "Enter the secret as the sender has it: at least 16 characters.",
      config: "The service does not accept this. Enter JSON with the fields of the event.",
    },
  );
  const { signature, secret, connector, event, config } = form.values;
  const connections =
    useQuery<Answer<typeof listConnectionsContract>>("/api/connectors").data?.data.connections;
  const connected = connections?.filter(({ status }) => status === "active") ?? [];
  const events = useQuery<Answer<typeof listConnectorEventsContract>>(
    connector === "" ? null : `/api/connectors/${connector}/events?limit=100`,
  ).data?.data.events;
  const chosen = events?.find(({ name }) => name === event);
  const fields = Object.keys(chosen?.configSchema.properties ?? {});
  const submit = async () => {
    const webhook = {
      kind: "webhook",
      ...(signature !== "" && { signature }),
      ...(signature !== "" && secret !== "" && { secret }),
    };
    const body =
      connector === ""
        ? webhook
        : { kind: "connector", connector, event, config: parseJson(config.trim() || "{}") };
    const result = await form.send<Created>(path, { body });
    if (!result.ok) return;
    onClose();
    onCreated(result.data);
  };
  return (
    <FormDialog
      title="Create trigger"
      submit="Create trigger"
      isComplete={connector === "" || event !== ""}
      {...{ form, onClose }}
      onSubmit={submit}
    >
      <SelectField
        label="Sender"
        value={connector === "" ? signature : `connected ${connector}`}
        options={[
          ...senders,
          ...[...new Set(connected.map((one) => `connected ${one.connector}`))].map((value) => ({
            ...{ value, label: `Your ${connectorOf(value.slice(10)).name}` },
          })),
        ]}
        onChange={(value) => {
          const slug = value.startsWith("connected ") ? value.slice(10) : "";
          form.set({ signature: slug === "" ? value : "", connector: slug, event: "" });
        }}
      />
      {connector !== "" && (
        <SelectField
          label="Event"
          hint={chosen?.description}
          options={(events ?? []).map(({ name, title }) => ({ value: name, label: title }))}
          {...form.field("event")}
        >
          <option value="">{events === undefined ? "Loading events…" : "Choose an event"}</option>
        </SelectField>
      )}
      {fields.length > 0 && (
        <TextareaField
          label="Config (JSON)"
          hint={`Fields: ${fields.join(", ")}`}
          {...form.field("config")}
        />
      )}
      {signature !== "" && (
        <TextField
          label={signature === "slack" ? "Signing secret" : "Secret (optional)"}
          hint={
            signature === "slack"
              ? "From “Basic Information” of the Slack app."
              : "Leave it empty to get a new one."
          }
          maxLength={200}
          autoComplete="off"
          {...form.field("secret")}
        />
      )}
    </FormDialog>
  );
}

/** Shows the secret of a new trigger, for the only time, and a command that sends an event. */
export function NewTrigger({ created, onClose }: { created: CreatedWebhook; onClose: () => void }) {
  const { url, secret, signature } = created;
  const line = `curl ${url} -H 'authorization: Bearer ${secret}' -H 'content-type: application/json' -d '{"hello":"world"}'`;
  return (
    <Dialog
      onClose={onClose}
      title="Trigger created"
      description="Copy the secret now. You will not be able to see it again."
    >
      <h3 className="text-sm font-medium">URL</h3>
      <CopyableText label="URL" text={url} />
      <h3 className="mt-4 text-sm font-medium">Secret</h3>
      <CopyableText label="secret" text={secret} />
      {signature === null && (
        <>
          <h3 className="mt-4 text-sm font-medium">Try it in a terminal</h3>
          <CopyableText label="command" text={line} />
        </>
      )}
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  );
}
