"use client";
import { Building2, ChevronRight, Mail, Plus } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { listInvitationsContract } from "@/lib/organizations/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import type { Answer } from "../../_api/request.ts";
import { usePages } from "../../_hooks/use-pages.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button, ButtonLink } from "../../_ui/button.tsx";
import { Cover } from "../../_ui/cover.tsx";
import { EmptyState, PagedList } from "../../_ui/states.tsx";
import { RoleBadge } from "./role-badge.tsx";

const NameDialog = lazyComponent(() => import("./name-dialog.tsx"), "NameDialog");

/** The organizations of the account, and a hint at open invitations to others. */
export function Organizations() {
  const router = useRouter();
  const list = usePages<Organization>("/api/organizations", "organizations");
  const received = useQuery<Answer<typeof listInvitationsContract>>("/api/invitations?limit=100");
  const [creating, setCreating] = useState(false);
  const invitations = received.data?.invitations.length ?? 0;
  const { items } = list;
  const create = (
    <Button icon={Plus} onClick={() => setCreating(true)}>
      New organization
    </Button>
  );
  return (
    <div>
      <div className="mb-4 flex flex-wrap items-end justify-between gap-3">
        <div>
          <h2 className="font-semibold">Organizations</h2>
          <p className="mt-0.5 max-w-xl text-sm text-muted-foreground">
            A label or a management company. Its members work for its artists together and can act
            for each other’s accounts.
          </p>
        </div>
        {items !== undefined && items.length > 0 && create}
      </div>
      {invitations > 0 && (
        <div className="mb-4 flex flex-wrap items-center justify-between gap-3 rounded-xl border bg-accent-soft px-4 py-3">
          <p className="flex items-center gap-2">
            <Mail aria-hidden className="size-4 text-accent-text" />
            {invitations === 1 ? "You have an invitation." : `You have ${invitations} invitations.`}
          </p>
          <ButtonLink href="/invitations" variant="outline" size="sm">
            View invitations
          </ButtonLink>
        </div>
      )}
      <PagedList
        label="Organizations"
        pages={list}
        empty={
          <EmptyState
            icon={Building2}
            title="No organizations yet"
            text="Create one for your label or company and invite the people you work with."
          >
            {create}
          </EmptyState>
        }
        keyOf={(one) => one.organization_id}
      >
        {({ organization_id: id, organization_name: name, image, role }) => (
          <Link
            href={`/settings/organizations/${id}`}
            prefetch={false}
            className="flex items-center gap-3 px-4 py-3 hover:bg-muted"
          >
            <Cover seed={id} image={image} className="size-9" />
            <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
            <RoleBadge role={role} />
            <ChevronRight aria-hidden className="size-4 text-muted-foreground" />
          </Link>
        )}
      </PagedList>
      {creating && (
        <NameDialog
          organization={null}
          onClose={() => setCreating(false)}
          onSaved={(made) => router.push(`/settings/organizations/${made.organization_id}`)}
        />
      )}
    </div>
  );
}
