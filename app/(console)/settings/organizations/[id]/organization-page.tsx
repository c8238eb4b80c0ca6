"use client";
import { Building2, MicVocal, Pencil } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { getOrganizationContract } from "@/lib/organizations/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import { type Answer, remove } from "../../../_api/request.ts";
import { useQuery } from "../../../_hooks/use-query.ts";
import { lazyComponent } from "../../../_load/lazy-component.tsx";
import { chooseOrganization, currentScope } from "../../../_session/scope.ts";
import { Button } from "../../../_ui/button.tsx";
import { Cover } from "../../../_ui/cover.tsx";
import { ConfirmDialog } from "../../../_ui/dialog.tsx";
import { BackLink } from "../../../_ui/page-header.tsx";
import { EmptyState, Loaded, Loading } from "../../../_ui/states.tsx";
import { toast } from "../../../_ui/toast.tsx";
import { RoleBadge } from "../role-badge.tsx";
import { InvitationsSection } from "./invitations-section.tsx";
import { MembersSection } from "./members-section.tsx";

const NameDialog = lazyComponent(() => import("../name-dialog.tsx"), "NameDialog");

/** An organization: its members, its open invitations, and what its owners can do. */
export function OrganizationPage({ id }: { readonly id: string }) {
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

interface HeadingProps {
  readonly organization: Organization;
  readonly onSaved: (organization: Organization) => void;
}

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
            chooseOrganization({ id, name });
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
        trigger={<Button variant="danger-ghost">Delete organization</Button>}
      />
    </section>
  );
}
