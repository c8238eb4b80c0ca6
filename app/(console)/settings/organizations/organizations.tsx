"use client";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { Organization } from "@/lib/organizations/organization.ts";
import { usePages } from "../../_hooks/use-pages.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button } from "../../_ui/button.tsx";
import { Cover } from "../../_ui/cover.tsx";
import { Building2, ChevronRight, Plus } from "../../_ui/icons.tsx";
import { Link } from "../../_ui/link.tsx";
import { EmptyState, PagedList } from "../../_ui/states.tsx";
import { RoleBadge } from "./role-badge.tsx";

const NameDialog = lazyComponent(() => import("./name-dialog.tsx"), "NameDialog");

export function Organizations() {
  const router = useRouter();
  const list = usePages<Organization>("/api/organizations", "organizations");
  const [creating, setCreating] = useState(false);
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
