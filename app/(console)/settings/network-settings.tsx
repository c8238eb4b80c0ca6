"use client";
import type { Me } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { Button } from "../_ui/button.tsx";
import { SectionCard } from "../_ui/card.tsx";
import { SelectField, TextareaField } from "../_ui/form.tsx";
import { ErrorNote } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";

const MODES = [
  { value: "open", label: "Every host" },
  { value: "allowlist", label: "Only these hosts" },
  { value: "none", label: "No host" },
];

const INVALID_TEXTS = {
  "network.hosts":
    "Enter at most 100 hosts, one on each line, such as example.com or *.example.com.",
};

/** Which hosts the agents of the account may reach. */
export function NetworkSettings({ account }: { readonly account: Me["account"] }) {
  const form = useForm<Record<"mode" | "network.hosts", string>>(
    {
      mode: account.network?.mode ?? "open",
      "network.hosts": account.network?.hosts?.join("\n") ?? "",
    },
    INVALID_TEXTS,
  );
  const { mode } = form.values;
  const submit = async () => {
    const hosts = form.values["network.hosts"].split(/[\s,]+/).filter(Boolean);
    const network = mode === "open" ? null : { mode, ...(mode === "allowlist" && { hosts }) };
    const body = { network };
    const result = await form.send<Me>("/api/accounts/me", { method: "PATCH", body });
    if (result.ok) toast("Your changes were saved.");
  };
  return (
    <SectionCard
      title="Network"
      description="What your agents may reach when they fetch pages, run commands or search the web. Templates, chats and schedules can only narrow it."
    >
      <form
        ref={form.ref}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
        className="flex flex-col gap-5"
      >
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
        <ErrorNote>{form.formError?.message ?? null}</ErrorNote>
        <div>
          <Button type="submit" busy={form.busy}>
            Save network settings
          </Button>
        </div>
      </form>
    </SectionCard>
  );
}
