"use client";
import type { Me } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { SectionCard } from "../_ui/card.tsx";
import { SelectField, TextareaField } from "../_ui/form.tsx";
import { AccountForm } from "./account-form.tsx";

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
