"use client";
import { useRef, useTransition } from "react";
import type { ApiError } from "../_api/request.ts";
import { type Me, useAccount } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { signOut } from "../_session/auth.ts";
import { Button } from "../_ui/button.tsx";
import { SectionCard } from "../_ui/card.tsx";
import { Dialog, DialogActions, DialogClose } from "../_ui/dialog.tsx";
import {
  Form,
  SelectField,
  Switch,
  TextareaField,
  TextField,
  timeZoneOptions,
} from "../_ui/form.tsx";
import { Download } from "../_ui/icons.tsx";
import { download } from "../_ui/save-file.ts";
import { Loaded, Loading } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { AccountForm } from "./account-form.tsx";
import { ApprovalSettings } from "./approval-settings.tsx";

export const AccountSettings = () => (
  <Loaded
    query={useAccount()}
    loading={<Loading label="Loading…" className="h-64 w-full rounded-xl" />}
  >
    {({ account }) => (
      <>
        <ProfileForm account={account} />
        <NetworkSettings account={account} />
        <ApprovalSettings account={account} />
        <MemorySettings account={account} />
        <ExportAccount />
        {account.email !== null && <DeleteAccount email={account.email} />}
      </>
    )}
  </Loaded>
);

/** Whether a proposed shorter memory needs a person. */
function MemorySettings({ account }: { readonly account: Me["account"] }) {
  const { send } = useSubmit();
  const { reload } = useAccount();
  const set = async (isAutomatic: boolean) => {
    const body = { auto_accept_memory: isAutomatic };
    const result = await send("/api/accounts/me", { method: "PATCH", body });
    if (!result.ok) toast(result.error.message, "danger");
    reload();
  };
  return (
    <SectionCard title="Memory" description="What your agents remember from chat to chat.">
      <Switch
        label="Shorten a full memory automatically"
        hint="Otherwise the shorter text waits in Files for your consent. Earlier versions stay either way."
        checked={account.auto_accept_memory}
        onChange={(isAutomatic) => void set(isAutomatic)}
      />
    </SectionCard>
  );
}

function ExportAccount() {
  const [busy, start] = useTransition();
  const save = () => download("/api/accounts/me/export", "account.zip");
  return (
    <SectionCard
      title="Export"
      description="A ZIP archive with your chats, files, templates, schedules, media and usage."
    >
      <Button icon={Download} variant="outline" busy={busy} onClick={() => start(save)}>
        Export account
      </Button>
    </SectionCard>
  );
}

const explain = ({ status, message }: ApiError): string => {
  if (status === 400) return "This is not the email address of your account.";
  if (status === 409) {
    return "You are the last owner of an organization. Delete it or make another member an owner first.";
  }
  return message;
};

/** Deletes the account after its email address was typed. */
function DeleteAccount({ email }: { readonly email: string }) {
  const form = useForm({ confirm: "" });
  const cancel = useRef<HTMLButtonElement>(null);
  const submit = async () => {
    const request = { method: "DELETE", body: form.values } as const;
    if ((await form.send("/api/accounts/me", request)).ok) await signOut();
  };
  return (
    <SectionCard
      title="Delete account"
      description="Permanently deletes your chats, files, artists, templates, media and API keys. Runs that are active are stopped."
    >
      <Dialog
        title="Delete your account?"
        description="This permanently deletes everything that the account owns. Export it first if you may need it."
        trigger={<Button variant="danger-ghost">Delete account…</Button>}
        initialFocus={cancel}
        onOpenChange={() => {
          form.set({ confirm: "" });
          form.clearError();
        }}
      >
        <Form onSubmit={submit}>
          <TextField
            label={`Type ${email} to confirm`}
            required
            autoComplete="off"
            {...form.field("confirm")}
            error={form.error ? explain(form.error) : undefined}
          />
          <DialogActions>
            <DialogClose asChild>
              <Button ref={cancel} variant="outline">
                Cancel
              </Button>
            </DialogClose>
            <Button type="submit" variant="danger" busy={form.busy}>
              Delete permanently
            </Button>
          </DialogActions>
        </Form>
      </Dialog>
    </SectionCard>
  );
}

const INVALID_TEXTS = {
  "network.hosts":
    "Enter at most 100 hosts, one on each line, such as example.com or *.example.com.",
  name: "Enter a name of at most 100 characters, on one line.",
  image: "Enter an address that begins with https://.",
  timezone: "Choose a time zone.",
  monthly_budget_usd: "Enter an amount of 0 or more, such as 50.",
};

function ProfileForm({ account }: { readonly account: Me["account"] }) {
  const form = useForm(
    {
      name: account.name ?? "",
      image: account.image ?? "",
      timezone: account.timezone ?? "",
      monthly_budget_usd: account.monthly_budget_usd?.toString() ?? "",
    },
    INVALID_TEXTS,
  );
  const bodyOf = () => {
    const { name, image, timezone, monthly_budget_usd: budget } = form.values;
    return {
      ...(name.trim() !== "" && { name: name.trim() }),
      image: image.trim() || null,
      timezone: timezone || null,
      monthly_budget_usd: budget.trim() === "" ? null : Number(budget),
    };
  };
  return (
    <SectionCard
      title="Profile"
      description="Members of your organizations see your name and picture."
    >
      <AccountForm form={form} bodyOf={bodyOf} save="Save changes">
        <TextField
          label="Email"
          hint="You sign in with this address. It cannot be changed."
          readOnly
          value={account.email ?? ""}
          className="[&_input]:bg-muted"
        />
        <TextField
          label="Name"
          maxLength={100}
          autoComplete="name"
          placeholder="Maya Lindqvist"
          required={account.name !== null}
          {...form.field("name")}
        />
        <TextField
          label="Picture address"
          hint="Optional: where your picture is on the web."
          inputMode="url"
          maxLength={2048}
          autoComplete="photo"
          placeholder="https://"
          {...form.field("image")}
        />
        <SelectField
          label="Time zone"
          hint="Where new schedules start from."
          options={timeZoneOptions(form.values.timezone)}
          {...form.field("timezone")}
        >
          <option value="">The time zone of the browser</option>
        </SelectField>
        <TextField
          label="Monthly budget in USD"
          hint="Agents stop when a calendar month has cost this much. Empty means no limit."
          type="number"
          min={0}
          max={1_000_000_000}
          step="any"
          inputMode="decimal"
          className="max-w-lg [&_input]:max-w-48"
          {...form.field("monthly_budget_usd")}
        />
      </AccountForm>
    </SectionCard>
  );
}

const MODES = [
  { value: "open", label: "Every host" },
  { value: "allowlist", label: "Only these hosts" },
  { value: "none", label: "No host" },
];

function NetworkSettings({ account }: { readonly account: Me["account"] }) {
  const form = useForm<Record<"mode" | "network.hosts", string>>(
    {
      mode: account.network?.mode ?? "open",
      "network.hosts": account.network?.hosts?.join("\n") ?? "",
    },
    INVALID_TEXTS,
  );
  const { mode } = form.values;
  const bodyOf = () => {
    const hosts = form.values["network.hosts"].split(/[\s,]+/).filter(Boolean);
    return { network: mode === "open" ? null : { mode, ...(mode === "allowlist" && { hosts }) } };
  };
  return (
    <SectionCard
      title="Network"
      description="What your agents may reach when they fetch pages, run commands or search the web. Templates, chats and schedules can only narrow it."
    >
      <AccountForm form={form} bodyOf={bodyOf} save="Save network settings">
        <SelectField label="Agents may reach" options={MODES} {...form.field("mode")} />
        {mode === "allowlist" && (
          <TextareaField
            label="Hosts"
            hint="One on each line. *.example.com stands for every host below example.com."
            placeholder="example.com"
            spellCheck={false}
            {...form.field("network.hosts")}
          />
        )}
      </AccountForm>
    </SectionCard>
  );
}
