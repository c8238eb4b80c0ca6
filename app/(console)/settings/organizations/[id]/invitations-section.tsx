"use client";
import { Mail } from "lucide-react";
import { type FormEvent, useState } from "react";
import { type ApiError, api } from "@/app/(console)/_api/request.ts";
import { usePages } from "@/app/(console)/_hooks/use-pages.ts";
import { useSubmit } from "@/app/(console)/_hooks/use-submit.ts";
import { formatDate } from "@/app/(console)/_ui/format-time.ts";
import type { Role, SentInvitation } from "@/lib/organizations/organization.ts";
import { Button } from "../../../_ui/button.tsx";
import { Card } from "../../../_ui/card.tsx";
import { ConfirmDialog } from "../../../_ui/confirm-dialog.tsx";
import { ErrorState } from "../../../_ui/error-state.tsx";
import { Field } from "../../../_ui/field.tsx";
import { Input } from "../../../_ui/input.tsx";
import { LoadMore } from "../../../_ui/load-more.tsx";
import { Select } from "../../../_ui/select.tsx";
import { ListSkeleton } from "../../../_ui/skeleton.tsx";
import { toast } from "../../../_ui/toast.tsx";
import { RoleBadge } from "../role-badge.tsx";

/** The open invitations, and the form to send one. */
export function InvitationsSection({ organizationId }: { readonly organizationId: string }) {
  const path = `/api/organizations/${organizationId}/invitations`;
  const sent = usePages<SentInvitation>(path, "invitations");
  const revoke = async ({ id, email }: SentInvitation): Promise<string | null> => {
    const result = await api(`${path}/${id}`, { method: "DELETE" });
    // An invitation that was answered or revoked in the meantime is gone as well.
    if (!result.ok && result.error.status !== 404) return result.error.message;
    toast(`Invitation to ${email} revoked`);
    sent.refresh();
    return null;
  };
  return (
    <section aria-labelledby="invitations">
      <h3 id="invitations" className="mb-3 font-semibold">
        Invitations
      </h3>
      <InviteForm path={path} onSent={sent.refresh} />
      {sent.error !== null && <ErrorState error={sent.error} onRetry={sent.loadMore} />}
      {sent.items === undefined && sent.error === null && (
        <div className="mt-3">
          <ListSkeleton label="Loading invitations…" rows={2} />
        </div>
      )}
      {sent.items?.length === 0 && (
        <p className="mt-3 text-sm text-muted-foreground">
          No open invitations. Each is valid for 7 days.
        </p>
      )}
      {sent.items !== undefined && sent.items.length > 0 && (
        <ul
          aria-label="Open invitations"
          className="mt-3 divide-y rounded-xl border bg-surface shadow-xs"
        >
          {sent.items.map((invitation) => (
            <li key={invitation.id} className="flex flex-wrap items-center gap-3 px-4 py-3">
              <span className="min-w-0 flex-1 basis-48">
                <span className="block font-medium wrap-anywhere">{invitation.email}</span>
                <span className="block text-sm text-muted-foreground">
                  Expires{" "}
                  <time dateTime={invitation.expires_at}>{formatDate(invitation.expires_at)}</time>
                </span>
              </span>
              <RoleBadge role={invitation.role} />
              <ConfirmDialog
                title="Revoke invitation?"
                description={`The link that was sent to ${invitation.email} no longer works.`}
                confirm="Revoke"
                onConfirm={() => revoke(invitation)}
                trigger={
                  <Button
                    variant="danger-ghost"
                    size="sm"
                    aria-label={`Revoke ${invitation.email}`}
                  >
                    Revoke
                  </Button>
                }
              />
            </li>
          ))}
        </ul>
      )}
      <LoadMore pages={sent} items="invitations" />
    </section>
  );
}

function describe({ status, code, fields, message }: ApiError): string {
  if (fields.includes("email")) return "Enter an email address.";
  if (status === 409) return "This person is already a member.";
  if (code === "quota_exceeded" || code === "too_many_invitations")
    return "Too many invitations are open. Revoke some, or wait a day.";
  return message;
}

function InviteForm({ path, onSent }: { readonly path: string; readonly onSent: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const { send, busy, error, clearError } = useSubmit<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await send(path, { body: { email: email.trim(), role } });
    if (!result.ok) return;
    toast(`Invitation sent to ${email.trim()}`);
    setEmail("");
    onSent();
  };
  return (
    <Card>
      <form
        noValidate
        onSubmit={(event) => void submit(event)}
        className="flex flex-wrap items-start gap-3"
      >
        <Field
          label="Email"
          error={error === null ? undefined : describe(error)}
          className="min-w-52 flex-1 max-sm:basis-full"
        >
          {(ids) => (
            <Input
              {...ids}
              type="email"
              autoComplete="off"
              maxLength={254}
              placeholder="manager@example.com"
              value={email}
              onChange={(event) => {
                setEmail(event.target.value);
                clearError();
              }}
            />
          )}
        </Field>
        <Field label="Role" className="w-32">
          {(ids) => (
            <Select {...ids} value={role} onChange={(event) => setRole(event.target.value as Role)}>
              <option value="member">Member</option>
              <option value="owner">Owner</option>
            </Select>
          )}
        </Field>
        <Button type="submit" busy={busy} className="mt-6.5">
          <Mail aria-hidden />
          Send invitation
        </Button>
      </form>
    </Card>
  );
}
