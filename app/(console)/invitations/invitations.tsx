"use client";
import { visibleName } from "@platform/kit/visible-name";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import type {
  acceptInvitationContract,
  listInvitationsContract,
} from "@/lib/organizations/contract.ts";
import type { ReceivedInvitation } from "@/lib/organizations/organization.ts";
import type { Answer } from "../_api/request.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { chooseOrganization } from "../_session/scope.ts";
import { Button, ButtonLink } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { formatDate } from "../_ui/format.ts";
import { Mail } from "../_ui/icons.tsx";
import { Page } from "../_ui/page-header.tsx";
import { EmptyState, Loaded, Loading } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";

type Joined = Answer<typeof acceptInvitationContract>["organization"];

/** The page that the mail of an invitation leads to. */
export function Invitations() {
  const query = useQuery<Answer<typeof listInvitationsContract>>("/api/invitations?limit=100");
  const [joined, setJoined] = useState<readonly Joined[]>([]);
  return (
    <Page
      title="Invitations"
      description="Organizations that have invited you. Their members can act for each other’s accounts."
    >
      <Loaded
        query={query}
        loading={<Loading label="Loading invitations…" className="h-24 rounded-xl" />}
      >
        {({ invitations }) =>
          invitations.length + joined.length === 0 ? (
            <EmptyState
              icon={Mail}
              title="No invitations"
              text="Invitations to your email address appear here until they expire."
            >
              <ButtonLink href="/settings/organizations" variant="outline">
                View your organizations
              </ButtonLink>
            </EmptyState>
          ) : (
            <ul className="space-y-3">
              {joined.map((organization) => (
                <li key={organization.organization_id}>
                  <JoinedOrganization organization={organization} />
                </li>
              ))}
              {invitations.map((invitation) => (
                <li key={invitation.id}>
                  <Invitation
                    invitation={invitation}
                    onAnswered={(organization) => {
                      if (organization !== null) setJoined((before) => [...before, organization]);
                      query.reload();
                    }}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function JoinedOrganization({ organization }: { readonly organization: Joined }) {
  const { organization_id: id, organization_name: name, role } = organization;
  const router = useRouter();
  const artists = usePages<Artist>(`/api/artists?org_id=${id}&limit=5`, "artists").items ?? [];
  const enter = (path: string) => {
    chooseOrganization({ id, name });
    router.push(path);
  };
  return (
    <Card className="flex flex-wrap items-center justify-between gap-3">
      <div>
        <h2 className="font-semibold wrap-anywhere">You joined {name}</h2>
        <p className="text-muted-foreground">
          {role === "viewer"
            ? "You can read what its members work on, and change nothing."
            : "Switch to work with its artists. New chats then belong to the organization."}
        </p>
        {artists.length > 0 && (
          <p className="mt-1 wrap-anywhere">{artists.map((one) => one.name).join(" · ")}</p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <ButtonLink href={`/settings/organizations/${id}`} variant="outline">
          View members
        </ButtonLink>
        {role !== "viewer" && (
          <Button variant="outline" onClick={() => enter("/chat")}>
            Start a chat
          </Button>
        )}
        <Button onClick={() => enter("/artists")}>Switch organization</Button>
      </div>
    </Card>
  );
}

function Invitation({
  invitation: { id, organization_name, role, expires_at },
  onAnswered,
}: {
  readonly invitation: ReceivedInvitation;
  /** Called with the organization that was joined, or with null. */
  readonly onAnswered: (joined: Joined | null) => void;
}) {
  const { send, busy } = useSubmit();
  const name = visibleName(organization_name);
  const answer = async (verb: "accept" | "decline") => {
    const path = `/api/invitations/${id}/${verb}`;
    const result = await send<Answer<typeof acceptInvitationContract> | null>(path);
    // One that was answered in another tab, or withdrawn, is gone from the list.
    if (!result.ok && result.error.status !== 404) return toast(result.error.message, "danger");
    if (result.ok && verb === "decline") toast("Invitation declined");
    onAnswered(result.ok && verb === "accept" ? (result.data?.organization ?? null) : null);
  };
  return (
    <Card className="flex flex-wrap items-center justify-between gap-3">
      <div>
        <h2 className="font-semibold wrap-anywhere">{name}</h2>
        <p className="text-muted-foreground">
          As {role === "owner" ? "an owner" : `a ${role}`} · expires{" "}
          <time dateTime={expires_at}>{formatDate(expires_at)}</time>
        </p>
      </div>
      <div className="flex gap-2">
        <Button
          variant="outline"
          aria-label={`Decline ${name}`}
          disabled={busy}
          onClick={() => void answer("decline")}
        >
          Decline
        </Button>
        <Button aria-label={`Accept ${name}`} busy={busy} onClick={() => void answer("accept")}>
          Accept
        </Button>
      </div>
    </Card>
  );
}
