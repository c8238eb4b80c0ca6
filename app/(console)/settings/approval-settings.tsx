import type { ApprovalCategory } from "@platform/endpoint/contract/approvals";
import { visibleExcerpt } from "@platform/endpoint/contract/visible-text";
import type { ApprovalRule } from "@/lib/approvals/contract.ts";
import type { Me } from "../_hooks/shared-reads.ts";
import { useForm } from "../_hooks/use-form.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { SmallButton } from "../_ui/button.tsx";
import { SectionCard } from "../_ui/card.tsx";
import { ForeignText } from "../_ui/foreign-text.tsx";
import { SelectField } from "../_ui/form.tsx";
import { ErrorNote, PagedList } from "../_ui/states.tsx";
import { AccountForm } from "./account-form.tsx";

const MAX_RULE_CHARS = 300;

const POLICIES = [
  { value: "auto", label: "Without asking" },
  { value: "ask", label: "Ask me" },
  { value: "ask_when_untrusted", label: "Ask me once it has read content of others" },
  { value: "deny", label: "Never" },
];

const KINDS: readonly {
  readonly kind: Exclude<ApprovalCategory, "delivery">;
  readonly label: string;
  /** The policy if none is chosen; empty where it depends on the call, as the text says. */
  readonly usual: "auto" | "ask" | "";
  readonly text?: string;
}[] = [
  { kind: "bash", label: "Run commands", usual: "auto" },
  {
    kind: "fetch",
    label: "Reach websites",
    usual: "",
    text: "Without asking, unless the chat has connected services",
  },
  { kind: "write", label: "Write files", usual: "auto" },
  { kind: "connectors", label: "Act in connected services", usual: "ask" },
  {
    kind: "mcp",
    label: "Use tools of MCP servers",
    usual: "",
    text: "Ask me, unless the tool only reads",
  },
  { kind: "media", label: "Generate images and videos", usual: "auto" },
  { kind: "schedules", label: "Create schedules", usual: "ask" },
];

/** The approval policy of the account's agents, and the remembered approvals. */
export function ApprovalSettings({ account }: { readonly account: Me["account"] }) {
  const form = useForm<Record<string, string>>(
    Object.fromEntries(KINDS.map(({ kind, usual }) => [kind, account.approvals[kind] ?? usual])),
  );
  const bodyOf = () => {
    const chosen = KINDS.flatMap(({ kind, usual }) => {
      const policy = form.values[kind];
      return policy === usual ? [] : [[kind, policy]];
    });
    const { delivery } = account.approvals;
    return { approvals: { ...(delivery && { delivery }), ...Object.fromEntries(chosen) } };
  };
  return (
    <SectionCard
      title="Approvals"
      description="What your agents may do by themselves, and when they ask you first. Chats, templates and schedules can have their own choice."
    >
      <AccountForm form={form} bodyOf={bodyOf} save="Save approvals">
        {KINDS.map(({ kind, label, text }) => (
          <SelectField
            key={kind}
            label={label}
            options={text === undefined ? POLICIES : [{ value: "", label: text }, ...POLICIES]}
            {...form.field(kind)}
          />
        ))}
      </AccountForm>
      <RememberedApprovals />
    </SectionCard>
  );
}

function RememberedApprovals() {
  const rules = usePages<ApprovalRule>("/api/approval-rules", "rules");
  const { send, busy, error } = useSubmit();
  const forget = async ({ id }: ApprovalRule) => {
    await send(`/api/approval-rules/${id}`, { method: "DELETE" });
    await rules.refresh();
  };
  return (
    <div className="mt-6 flex flex-col gap-3">
      <h3 className="font-medium">Remembered approvals</h3>
      <ErrorNote>{error?.message ?? null}</ErrorNote>
      <PagedList
        label="Remembered approvals"
        pages={rules}
        loadingRows={1}
        more="approvals"
        empty={<p className="text-muted-foreground">None yet.</p>}
        keyOf={(rule) => rule.id}
      >
        {(rule) => {
          const text = textOf(rule);
          return (
            <div className="flex items-center gap-3 px-4 py-2.5 text-sm">
              <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <ForeignText text={text} isWrittenOut />
                <span className="block text-muted-foreground">
                  {rule.task_id === null ? "In one chat" : "For one task"}
                </span>
              </p>
              <SmallButton
                aria-label={`Forget ${text}`}
                disabled={busy}
                onClick={() => void forget(rule)}
              >
                Forget
              </SmallButton>
            </div>
          );
        }}
      </PagedList>
    </div>
  );
}

const textOf = ({ tool, fields }: ApprovalRule): string => {
  const values = Object.values(fields).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  return visibleExcerpt([tool, ...values].join(" · "), MAX_RULE_CHARS).value;
};
