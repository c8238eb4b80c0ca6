"use client";
import { Building2, MicVocal, Pencil } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { z } from "zod";
import { api } from "@/app/(console)/_api/request.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { chooseOrganization, currentScope } from "@/app/(console)/_session/scope.ts";
import type { getOrganizationContract } from "@/lib/organizations/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import { lazyComponent } from "../../../_load/lazy-component.tsx";
import { BackLink } from "../../../_ui/back-link.tsx";
import { Button } from "../../../_ui/button.tsx";
import { ConfirmDialog } from "../../../_ui/confirm-dialog.tsx";
import { Cover } from "../../../_ui/cover.tsx";
import { EmptyState } from "../../../_ui/empty-state.tsx";
import { Loaded } from "../../../_ui/loaded.tsx";
import { Skeleton } from "../../../_ui/skeleton.tsx";
import { toast } from "../../../_ui/toast.tsx";
import { RoleBadge } from "../role-badge.tsx";
import { InvitationsSection } from "./invitations-section.tsx";
import { MembersSection } from "./members-section.tsx";

const NameDialog = lazyComponent(() =>
  import("../name-dialog.tsx").then((module) => module.NameDialog),
);

type One = z.output<(typeof getOrganizationContract)["responses"][200]["schema"]>;

/** An organization: its members, its open invitations, and what its owners can do. */
export function OrganizationPage({ id }: { readonly id: string }) {
  const query = useQuery<One>(`/api/organizations/${id}`);
  const { change, reload } = query;
  return (
    <div>
      <BackLink href="/settings/organizations">Organizations</BackLink>
      <Loaded
        query={query}
        loading={
          <>
            <p className="sr-only">Loading the organization…</p>
            <Skeleton className="h-48 rounded-xl" />
          </>
        }
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

function Heading({
  organization,
  onSaved,
}: {
  readonly organization: Organization;
  readonly onSaved: (organization: Organization) => void;
}) {
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
          variant="outline"
          onClick={() => {
            chooseOrganization({ id, name });
            router.push("/artists");
          }}
        >
          <MicVocal aria-hidden />
          Show artists
        </Button>
        {role === "owner" && (
          <Button variant="outline" onClick={() => setRenaming(true)}>
            <Pencil aria-hidden />
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
  const remove = async (): Promise<string | null> => {
    const result = await api(`/api/organizations/${id}`, { method: "DELETE" });
    if (!result.ok && result.error.status !== 404) return result.error.message;
    if (currentScope().organization?.id === id) chooseOrganization(null);
    toast(`${name} deleted`);
    router.push("/settings/organizations");
    return null;
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
        onConfirm={remove}
        trigger={<Button variant="danger-ghost">Delete organization</Button>}
      />
    </section>
  );
}
