"use client";
import { Mail } from "lucide-react";
import { useState } from "react";
import type { z } from "zod";
import { api } from "@/app/(console)/_api/request.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { listInvitationsContract } from "@/lib/organizations/contract.ts";
import type { ReceivedInvitation } from "@/lib/organizations/organization.ts";
import { Button } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { formatDate } from "../_ui/format-time.ts";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { toast } from "../_ui/toast.tsx";

type List = z.output<(typeof listInvitationsContract.responses)[200]["schema"]>;

/** The page that the mail of an invitation leads to. */
export function Invitations() {
  const { data, error, reload } = useQuery<List>("/api/invitations?limit=100");
  return (
    <Page>
      <PageHeader
        title="Invitations"
        description="Organizations that have invited you. Their members can act for each other’s accounts."
      />
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {error === null && data === undefined && (
        <div aria-busy="true">
          <p className="sr-only">Loading invitations…</p>
          <Skeleton className="h-24 rounded-xl" />
        </div>
      )}
      {data?.invitations.length === 0 && (
        <EmptyState
          icon={Mail}
          title="No invitations"
          text="Invitations to your email address appear here until they expire."
        />
      )}
      <ul className="space-y-3">
        {data?.invitations.map((invitation) => (
          <li key={invitation.id}>
            <Invitation invitation={invitation} onAnswered={reload} />
          </li>
        ))}
      </ul>
    </Page>
  );
}

function Invitation({
  invitation: { id, organization_name: name, role, expires_at },
  onAnswered,
}: {
  readonly invitation: ReceivedInvitation;
  readonly onAnswered: () => void;
}) {
  const [busy, setBusy] = useState<"accept" | "decline" | null>(null);
  const answer = async (verb: "accept" | "decline") => {
    setBusy(verb);
    const result = await api<unknown>(`/api/invitations/${id}/${verb}`, { method: "POST" });
    setBusy(null);
    // One that was answered in another tab, or withdrawn, is gone from the list.
    if (!result.ok && result.error.status !== 404) return toast(result.error.message, "danger");
    if (result.ok) toast(verb === "accept" ? `You joined ${name}` : "Invitation declined");
    onAnswered();
  };
  return (
    <Card className="flex flex-wrap items-center justify-between gap-3">
      <div>
        <h2 className="font-semibold wrap-anywhere">{name}</h2>
        <p className="text-muted-foreground">
          As {role === "owner" ? "an owner" : "a member"} · expires{" "}
          <time dateTime={expires_at}>{formatDate(expires_at)}</time>
        </p>
      </div>
      <div className="flex gap-2">
        <Button
          variant="outline"
          aria-label={`Decline ${name}`}
          busy={busy === "decline"}
          onClick={() => void answer("decline")}
        >
          Decline
        </Button>
        <Button
          aria-label={`Accept ${name}`}
          busy={busy === "accept"}
          onClick={() => void answer("accept")}
        >
          Accept
        </Button>
      </div>
    </Card>
  );
}
