"use client";
import { useParams, useRouter } from "next/navigation";
import { useState } from "react";
import type { getOrganizationContract } from "@/lib/organizations/contract.ts";
import type { Member, Organization, Role } from "@/lib/organizations/organization.ts";
import { type Answer, api, remove } from "../../../_api/request.ts";
import { useOwnAccount } from "../../../_hooks/shared-reads.ts";
import { usePages } from "../../../_hooks/use-pages.ts";
import { useQuery } from "../../../_hooks/use-query.ts";
import { lazyComponent } from "../../../_load/lazy-component.tsx";
import { chooseOrganization, currentScope } from "../../../_session/scope.ts";
import { Button } from "../../../_ui/button.tsx";
import { Cover } from "../../../_ui/cover.tsx";
import { ConfirmDialog } from "../../../_ui/dialog.tsx";
import { Select } from "../../../_ui/form.tsx";
import { Building2, MicVocal, Pencil } from "../../../_ui/icons.tsx";
import { BackLink } from "../../../_ui/page-header.tsx";
import { EmptyState, Loaded, Loading, PagedList } from "../../../_ui/states.tsx";
import { toast } from "../../../_ui/toast.tsx";
import { ROLES, RoleBadge } from "../role-badge.tsx";
import { ArtistLimit } from "./artist-limit.tsx";
import { InvitationsSection } from "./invitations-section.tsx";

const NameDialog = lazyComponent(() => import("../name-dialog.tsx"), "NameDialog");

/** An organization: its members, its open invitations, and what its owners can do. */
export function OrganizationPage() {
  const { id } = useParams<{ id: string }>();
  const query = useQuery<Answer<typeof getOrganizationContract>>(`/api/organizations/${id}`);
  const { change, reload } = query;
  return (
    <div>
      <BackLink href="/settings/organizations">Organizations</BackLink>
      <Loaded
        query={query}
        loading={<Loading label="Loading the organization…" className="h-48 rounded-xl" />}
        missing={
          <EmptyState
            icon={Building2}
            title="Organization not found"
            text="It was deleted, or you are not a member of it."
          />
        }
      >
        {({ organization }) => (
          <div className="flex flex-col gap-8">
            <Heading
              organization={organization}
              onSaved={(saved) => change((old) => ({ ...old, organization: saved }))}
            />
            <MembersSection organization={organization} onRoleChanged={reload} />
            {organization.role === "owner" && (
              <>
                <InvitationsSection organizationId={id} />
                <DeleteSection organization={organization} />
              </>
            )}
          </div>
        )}
      </Loaded>
    </div>
  );
}

type HeadingProps = Readonly<{
  organization: Organization;
  onSaved: (organization: Organization) => void;
}>;

function Heading({ organization, onSaved }: HeadingProps) {
  const { organization_id: id, organization_name: name, image, role } = organization;
  const router = useRouter();
  const [renaming, setRenaming] = useState(false);
  return (
    <header className="flex flex-wrap items-center gap-4">
      <Cover seed={id} image={image} className="size-14 rounded-lg" />
      <div className="min-w-0 flex-1 basis-40">
        <h2 className="text-lg font-semibold wrap-anywhere">{name}</h2>
        <RoleBadge role={role} />
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          icon={MicVocal}
          variant="outline"
          onClick={() => {
            // A member limited to artists cannot act for the organization.
            if (organization.artist_ids === null) chooseOrganization({ id, name });
            router.push("/artists");
          }}
        >
          Show artists
        </Button>
        {role === "owner" && (
          <Button icon={Pencil} variant="outline" onClick={() => setRenaming(true)}>
            Rename
          </Button>
        )}
      </div>
      {renaming && (
        <NameDialog
          organization={organization}
          onClose={() => setRenaming(false)}
          onSaved={(saved) => {
            setRenaming(false);
            onSaved(saved);
            if (currentScope().organization?.id === id) {
              chooseOrganization({ id, name: saved.organization_name });
            }
          }}
        />
      )}
    </header>
  );
}

function DeleteSection({ organization }: { readonly organization: Organization }) {
  const { organization_id: id, organization_name: name } = organization;
  const router = useRouter();
  const leave = () => {
    if (currentScope().organization?.id === id) chooseOrganization(null);
    toast(`${name} deleted`);
    router.push("/settings/organizations");
  };
  return (
    <section
      aria-label="Delete organization"
      className="flex flex-wrap items-center justify-between gap-3 rounded-xl border px-5 py-4"
    >
      <div className="min-w-0 flex-1 basis-60">
        <h3 className="font-semibold">Delete organization</h3>
        <p className="text-sm text-muted-foreground">
          Permanently deletes its artists with their connections and files. What members own stays
          with them.
        </p>
      </div>
      <ConfirmDialog
        title={`Delete ${name}?`}
        description="This permanently deletes the organization and its artists for all members."
        confirm="Delete permanently"
        onConfirm={() => remove(`/api/organizations/${id}`)}
        onDone={leave}
        button={{ children: "Delete organization" }}
      />
    </section>
  );
}

const LAST_OWNER = "The last owner stays. Make another member an owner first.";

/** The members with their roles, which owners change. Everyone can leave. */
function MembersSection({
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
  const change = async (
    member: Member,
    body: { role: Role } | { artist_ids: readonly string[] | "" },
  ) => {
    const result = await api(pathOf(member), { method: "PATCH", body });
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
              {role === "owner" && member.role !== "owner" && (
                <ArtistLimit
                  organizationId={id}
                  person={nameOf(member)}
                  value={member.artist_ids}
                  onChange={(limit) => void change(member, { artist_ids: limit ?? "" })}
                />
              )}
              {role === "owner" ? (
                <Select
                  aria-label={`Role of ${nameOf(member)}`}
                  value={member.role}
                  onChange={(value) => void change(member, { role: value as Role })}
                  className="w-32"
                  options={ROLES}
                />
              ) : (
                <RoleBadge role={member.role} />
              )}
              {(role === "owner" || isOwn) && (
                <ConfirmDialog
                  {...(isOwn ? leaving(name) : removing(nameOf(member), name))}
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

const leaving = (organization: string) => ({
  title: `Leave ${organization}?`,
  description: "You lose access to its artists. An owner can invite you again.",
  confirm: "Leave",
  button: { size: "sm", "aria-label": `Leave ${organization}` } as const,
});

const removing = (name: string, organization: string) => ({
  title: `Remove ${name}?`,
  description: `${name} loses access to the artists of ${organization}. You can invite them again.`,
  confirm: "Remove",
  button: { size: "sm", "aria-label": `Remove ${name}` } as const,
});

const nameOf = ({ name, email }: Member): string => name ?? email ?? "Unnamed member";

/**
 * A person's avatar: the first letter of the name or email. It is decorative, because the name is beside
 * it.
 */
const Avatar = ({ name }: { readonly name: string }) => (
  <span
    aria-hidden
    className="grid size-8 shrink-0 place-items-center rounded-full bg-muted text-sm font-medium text-muted-foreground uppercase select-none"
  >
    {[...name.trim()][0]}
  </span>
);
