"use client";
import { useRouter } from "next/navigation";
import type { Member, Organization, Role } from "@/lib/organizations/organization.ts";
import { api, remove } from "../../../_api/request.ts";
import { useOwnAccount } from "../../../_hooks/shared-reads.ts";
import { usePages } from "../../../_hooks/use-pages.ts";
import { chooseOrganization, currentScope } from "../../../_session/scope.ts";
import { Button } from "../../../_ui/button.tsx";
import { ConfirmDialog } from "../../../_ui/dialog.tsx";
import { Select } from "../../../_ui/form.tsx";
import { PagedList } from "../../../_ui/states.tsx";
import { toast } from "../../../_ui/toast.tsx";
import { ROLES, RoleBadge } from "../role-badge.tsx";

const LAST_OWNER = "The last owner stays. Make another member an owner first.";

/** The members with their roles, which owners change. Everyone can leave. */
export function MembersSection({
  organization: { organization_id: id, organization_name: name, role },
  onRoleChanged,
}: {
  readonly organization: Organization;
  /** Called when the person's own role may have changed. */
  readonly onRoleChanged: () => void;
}) {
  const router = useRouter();
  const own = useOwnAccount();
  const members = usePages<Member>(`/api/organizations/${id}/members`, "members");
  const pathOf = (member: Member) => `/api/organizations/${id}/members/${member.account_id}`;
  const setRole = async (member: Member, next: Role) => {
    const result = await api(pathOf(member), { method: "PATCH", body: { role: next } });
    if (!result.ok) {
      toast(result.error.status === 409 ? LAST_OWNER : result.error.message, "danger");
    }
    members.refresh();
    if (member.account_id === own) onRoleChanged();
  };
  const removed = (member: Member) => {
    if (member.account_id !== own) {
      toast(`${nameOf(member)} removed`);
      return members.refresh();
    }
    if (currentScope().organization?.id === id) chooseOrganization(null);
    toast(`You left ${name}`);
    router.push("/settings/organizations");
  };
  return (
    <section aria-labelledby="members">
      <h3 id="members" className="mb-3 font-semibold">
        Members
      </h3>
      <PagedList
        label="Members"
        pages={members}
        loadingRows={2}
        more="members"
        empty={null}
        keyOf={(member) => member.account_id}
      >
        {(member) => {
          const isOwn = member.account_id === own;
          return (
            <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
              <Avatar name={nameOf(member)} />
              <span className="min-w-0 flex-1 basis-48">
                <span className="block font-medium wrap-anywhere">
                  {nameOf(member)}
                  {isOwn && <span className="font-normal text-muted-foreground"> (you)</span>}
                </span>
                {member.name !== null && (
                  <span className="block text-sm wrap-anywhere text-muted-foreground">
                    {member.email}
                  </span>
                )}
              </span>
              {role === "owner" ? (
                <Select
                  aria-label={`Role of ${nameOf(member)}`}
                  value={member.role}
                  onChange={(value) => void setRole(member, value as Role)}
                  className="w-32"
                >
                  {ROLES.map(({ value, label }) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </Select>
              ) : (
                <RoleBadge role={member.role} />
              )}
              {(role === "owner" || isOwn) && (
                <Removal
                  name={nameOf(member)}
                  isOwn={isOwn}
                  organization={name}
                  onConfirm={() => remove(pathOf(member), { 409: LAST_OWNER })}
                  onDone={() => removed(member)}
                />
              )}
            </div>
          );
        }}
      </PagedList>
    </section>
  );
}

const nameOf = ({ name, email }: Member): string => name ?? email ?? "Unnamed member";

interface RemovalProps {
  readonly name: string;
  readonly isOwn: boolean;
  readonly organization: string;
  readonly onConfirm: () => Promise<string | null>;
  readonly onDone: () => void;
}

function Removal({ name, isOwn, organization, ...actions }: RemovalProps) {
  return (
    <ConfirmDialog
      title={isOwn ? `Leave ${organization}?` : `Remove ${name}?`}
      description={
        isOwn
          ? "You lose access to its artists. An owner can invite you again."
          : `${name} loses access to the artists of ${organization}. You can invite them again.`
      }
      confirm={isOwn ? "Leave" : "Remove"}
      {...actions}
      trigger={
        <Button
          variant="danger-ghost"
          size="sm"
          aria-label={isOwn ? `Leave ${organization}` : `Remove ${name}`}
        >
          {isOwn ? "Leave" : "Remove"}
        </Button>
      }
    />
  );
}

/** A person by the first letter of the name or email. It is decorative, because the name stands beside it. */
function Avatar({ name }: { readonly name: string }) {
  return (
    <span
      aria-hidden
      className="grid size-8 shrink-0 place-items-center rounded-full bg-muted text-sm font-medium text-muted-foreground uppercase select-none"
    >
      {[...name.trim()][0]}
    </span>
  );
}
