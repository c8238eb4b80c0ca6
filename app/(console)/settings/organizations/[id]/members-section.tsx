"use client";
import { useRouter } from "next/navigation";
import { api } from "@/app/(console)/_api/request.ts";
import { useOwnAccount } from "@/app/(console)/_hooks/shared-reads.ts";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import { chooseOrganization, currentScope } from "@/app/(console)/_session/scope.ts";
import type { Member, Organization, Role } from "@/lib/organizations/organization.ts";
import { Avatar } from "../../../_ui/avatar.tsx";
import { Button } from "../../../_ui/button.tsx";
import { ConfirmDialog } from "../../../_ui/confirm-dialog.tsx";
import { ErrorState } from "../../../_ui/error-state.tsx";
import { LoadMore } from "../../../_ui/load-more.tsx";
import { Select } from "../../../_ui/select.tsx";
import { ListSkeleton } from "../../../_ui/skeleton.tsx";
import { toast } from "../../../_ui/toast.tsx";
import { RoleBadge } from "../role-badge.tsx";

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
  const remove = async (member: Member): Promise<string | null> => {
    const result = await api(pathOf(member), { method: "DELETE" });
    if (!result.ok && result.error.status === 409) return LAST_OWNER;
    if (!result.ok && result.error.status !== 404) return result.error.message;
    if (member.account_id !== own) {
      toast(`${nameOf(member)} removed`);
      members.refresh();
      return null;
    }
    if (currentScope().organization?.id === id) chooseOrganization(null);
    toast(`You left ${name}`);
    router.push("/settings/organizations");
    return null;
  };
  return (
    <section aria-labelledby="members">
      <h3 id="members" className="mb-3 font-semibold">
        Members
      </h3>
      {members.error !== null && <ErrorState error={members.error} onRetry={members.loadMore} />}
      {members.items === undefined && members.error === null && (
        <ListSkeleton label="Loading members…" rows={2} />
      )}
      {members.items !== undefined && (
        <ul aria-label="Members" className="divide-y rounded-xl border bg-surface shadow-xs">
          {members.items.map((member) => (
            <li
              key={member.account_id}
              className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3"
            >
              <Avatar name={nameOf(member)} />
              <span className="min-w-0 flex-1 basis-48">
                <span className="block font-medium wrap-anywhere">
                  {nameOf(member)}
                  {member.account_id === own && (
                    <span className="font-normal text-muted-foreground"> (you)</span>
                  )}
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
                  onChange={(event) => void setRole(member, event.target.value as Role)}
                  className="w-32"
                >
                  <option value="owner">Owner</option>
                  <option value="member">Member</option>
                </Select>
              ) : (
                <RoleBadge role={member.role} />
              )}
              {(role === "owner" || member.account_id === own) && (
                <Removal
                  member={member}
                  isOwn={member.account_id === own}
                  organization={name}
                  onConfirm={() => remove(member)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <LoadMore pages={members} items="members" />
    </section>
  );
}

const nameOf = ({ name, email }: Member): string => name ?? email ?? "Unnamed member";

function Removal({
  member,
  isOwn,
  organization,
  onConfirm,
}: {
  readonly member: Member;
  readonly isOwn: boolean;
  readonly organization: string;
  readonly onConfirm: () => Promise<string | null>;
}) {
  const name = nameOf(member);
  return (
    <ConfirmDialog
      title={isOwn ? `Leave ${organization}?` : `Remove ${name}?`}
      description={
        isOwn
          ? "You lose access to its artists. An owner can invite you again."
          : `${name} loses access to the artists of ${organization}. You can invite them again.`
      }
      confirm={isOwn ? "Leave" : "Remove"}
      onConfirm={onConfirm}
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
