"use client";
import { useState } from "react";
import { remove } from "../_api/request.ts";
import { type CreatedKey, type KeyList, type ListedKey, useKeys } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { useOpenedByLink } from "../_hooks/use-opened-by-link.ts";
import { Badge } from "../_ui/badge.tsx";
import { Button, SmallButton } from "../_ui/button.tsx";
import { CopyableText } from "../_ui/copy-button.tsx";
import { ConfirmDialog, Dialog, DialogActions } from "../_ui/dialog.tsx";
import { SelectField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { formatDate, formatDateTime } from "../_ui/format.ts";
import { CircleCheck, KeyRound, LoaderCircle, Plus } from "../_ui/icons.tsx";
import { TextLink } from "../_ui/link.tsx";
import { Page } from "../_ui/page-header.tsx";
import { EmptyState, Loaded, Loading } from "../_ui/states.tsx";
import { Cell, HeadCell, Table } from "../_ui/table.tsx";
import { toast } from "../_ui/toast.tsx";

/** The page of API keys. A new key is shown in full once, until its dialog is closed. */
export function Keys() {
  const query = useKeys();
  const { data, reload } = query;
  const [creating, setCreating] = useOpenedByLink();
  const [newKey, setNewKey] = useState<CreatedKey | null>(null);
  const show = (key: CreatedKey) => {
    setNewKey(key);
    reload();
  };
  const create = (
    <Button icon={Plus} onClick={() => setCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Page
      title="API keys"
      description="An API key has full access to your account. Store it like a password, and revoke keys you no longer use."
      actions={data !== undefined && data.keys.length > 0 && create}
    >
      <Loaded query={query} loading={<Loading label="Loading keys…" className="h-48 rounded-xl" />}>
        {({ keys }) =>
          keys.length === 0 ? (
            <EmptyState
              icon={KeyRound}
              title="No keys yet"
              text="Create a key to use the API from a terminal, a server or an agent."
            >
              {create}
            </EmptyState>
          ) : (
            <KeyTable keys={keys} onRotated={show} onRevoked={reload} />
          )
        }
      </Loaded>
      {creating && data !== undefined && (
        <CreateKey
          suggestedName={data.keys.length === 0 ? "My first key" : ""}
          onCreated={show}
          onClose={() => setCreating(false)}
        />
      )}
      {newKey !== null && <NewKey created={newKey} onClose={() => setNewKey(null)} />}
    </Page>
  );
}

interface KeyTableProps {
  readonly keys: readonly ListedKey[];
  readonly onRotated: (key: CreatedKey) => void;
  readonly onRevoked: () => void;
}

function KeyTable({ keys, onRotated, onRevoked }: KeyTableProps) {
  const [rotating, setRotating] = useState<ListedKey | null>(null);
  return (
    <>
      <Table label="API keys">
        <thead>
          <tr>
            <HeadCell>Name</HeadCell>
            <HeadCell className="max-sm:hidden">Created</HeadCell>
            <HeadCell className="max-sm:hidden">Last used</HeadCell>
            <HeadCell className="max-sm:hidden">Expires</HeadCell>
            <HeadCell>
              <span className="sr-only">Actions</span>
            </HeadCell>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <Cell className="sm:min-w-44">
                <span className="block font-medium wrap-anywhere">{key.key_name}</span>
                <code className="font-mono text-xs text-muted-foreground">{key.prefix}…</code>
                <span className="block text-xs text-muted-foreground sm:hidden">
                  Last used: <LastUse at={key.last_used_at} />
                  <br />
                  Expires: <Expiry at={key.expires_at} />
                </span>
              </Cell>
              <Cell className="whitespace-nowrap text-muted-foreground max-sm:hidden">
                <time dateTime={key.created_at}>{formatDate(key.created_at)}</time>
              </Cell>
              <Cell className="whitespace-nowrap text-muted-foreground max-sm:hidden">
                <LastUse at={key.last_used_at} />
              </Cell>
              <Cell className="whitespace-nowrap text-muted-foreground max-sm:hidden">
                <Expiry at={key.expires_at} />
              </Cell>
              <Cell className="w-px whitespace-nowrap">
                <div className="flex justify-end gap-1 max-sm:flex-col max-sm:items-end">
                  <SmallButton
                    variant="ghost"
                    aria-label={`Rotate ${key.key_name}`}
                    onClick={() => setRotating(key)}
                  >
                    Rotate
                  </SmallButton>
                  <ConfirmDialog
                    title={`Revoke “${key.key_name}”?`}
                    description="Programs that use this key will lose access immediately. This cannot be undone."
                    confirm="Revoke"
                    onConfirm={() => remove(`/api/keys/${key.id}`)}
                    onDone={() => {
                      toast(`“${key.key_name}” revoked`);
                      onRevoked();
                    }}
                    button={{
                      size: "sm",
                      className: "text-muted-foreground hover:text-danger-text",
                      "aria-label": `Revoke ${key.key_name}`,
                    }}
                  />
                </div>
              </Cell>
            </tr>
          ))}
        </tbody>
      </Table>
      {rotating !== null && (
        <RotateKey known={rotating} onCreated={onRotated} onClose={() => setRotating(null)} />
      )}
    </>
  );
}

const LastUse = ({ at }: { readonly at: string | null }) =>
  at === null ? "Never" : <time dateTime={at}>{formatDateTime(at)}</time>;

function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return "Never";
  if (Date.parse(at) <= Date.now()) return <Badge tone="danger">Expired</Badge>;
  return <time dateTime={at}>{formatDateTime(at)}</time>;
}

const lifetimes = [
  { value: "", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
] as const;

interface KeyDialogProps {
  readonly onCreated: (key: CreatedKey) => void;
  readonly onClose: () => void;
}

type CreateKeyProps = KeyDialogProps & { readonly suggestedName: string };

function CreateKey({ suggestedName, onCreated, onClose }: CreateKeyProps) {
  const form = useForm(
    { key_name: suggestedName, days: "" },
    { key_name: "Enter a name of 1 to 100 characters, on one line." },
  );
  const onSubmit = async () => {
    const { key_name, days } = form.values;
    const body = { key_name, ...(days !== "" && { expires_in_days: Number(days) }) };
    const result = await form.send<CreatedKey>("/api/keys", { body });
    if (!result.ok) return;
    onClose();
    onCreated(result.data);
  };
  return (
    <FormDialog title="Create key" submit="Create key" {...{ form, onSubmit, onClose }}>
      <TextField
        label="Name"
        hint="For example, where the key will be used: “release script”."
        maxLength={100}
        autoComplete="off"
        {...form.field("key_name")}
      />
      <SelectField label="Expires" options={lifetimes} {...form.field("days")} />
    </FormDialog>
  );
}

/** Shows a new key in full, for the only time, and a command that uses it. */
function NewKey({ created, onClose }: Readonly<{ created: CreatedKey; onClose: () => void }>) {
  const prompt = "Plan: approve the masters, send the artwork, pitch the playlists";
  const line = `curl ${location.origin}/api/chat/runs -H 'x-api-key: ${created.key}' -d '{"prompt":"${prompt}"}'`;
  const isUsedIn = (data: KeyList | undefined) =>
    data?.keys.some(({ id, last_used_at }) => id === created.id && last_used_at !== null);
  const isUsed = isUsedIn(useKeys(true, (data) => !isUsedIn(data) && 2_000).data);
  return (
    <Dialog
      onClose={onClose}
      title={`Key “${created.key_name}”`}
      description="Copy this key now. You will not be able to see it again."
    >
      <CopyableText label="key" text={created.key} />
      <h3 className="mt-5 text-sm font-medium">Try it in a terminal</h3>
      <p className="text-sm text-muted-foreground">
        This starts a new chat. You'll find the answer in your chat list.
      </p>
      <CopyableText label="command" text={line} />
      <p role="status" className="mt-3 flex items-center gap-2 text-sm text-muted-foreground">
        {isUsed ? (
          <>
            <CircleCheck aria-hidden className="size-4 text-success-text" />
            <span>
              The key works: its first request has arrived.{" "}
              <TextLink href="/chat">Open chats</TextLink>
            </span>
          </>
        ) : (
          <>
            <LoaderCircle aria-hidden className="size-4 animate-spin" />
            Waiting for the first request with this key…
          </>
        )}
      </p>
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  );
}

const graces = [
  { value: "0", label: "Immediately" },
  { value: "600", label: "After 10 minutes" },
  { value: "3600", label: "After 1 hour" },
  { value: "86400", label: "After 1 day" },
] as const;

/** A dialog to replace a key. The old key can keep working while programs are switched over. */
function RotateKey({ known, onCreated, onClose }: KeyDialogProps & { readonly known: ListedKey }) {
  const form = useForm({ grace: "3600" });
  const { error } = form;
  const onSubmit = async () => {
    const body = { grace_seconds: Number(form.values.grace) };
    const result = await form.send<CreatedKey>(`/api/keys/${known.id}/rotate`, { body });
    if (!result.ok) return;
    onClose();
    onCreated(result.data);
  };
  return (
    <FormDialog
      title={`Rotate “${known.key_name}”`}
      description="This creates a new key with the same name and expiry."
      submit="Rotate"
      {...{ onSubmit, onClose }}
      form={{ ...form, formError: null }}
    >
      <SelectField
        label="The old key stops working"
        options={graces}
        {...form.field("grace")}
        error={error?.code === "conflict" ? "This key has already been rotated." : error?.message}
      />
    </FormDialog>
  );
}
