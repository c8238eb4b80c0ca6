import type { SentInvitation } from "@/lib/organizations/organization.ts";
import { type ApiError, remove } from "../../../_api/request.ts";
import { useForm } from "../../../_hooks/use-form.ts";
import { usePages } from "../../../_hooks/use-pages.ts";
import { Button } from "../../../_ui/button.tsx";
import { Card } from "../../../_ui/card.tsx";
import { ConfirmDialog } from "../../../_ui/dialog.tsx";
import { Form, SelectField, TextField } from "../../../_ui/form.tsx";
import { formatDate } from "../../../_ui/format.ts";
import { Mail } from "../../../_ui/icons.tsx";
import { PagedList } from "../../../_ui/states.tsx";
import { toast } from "../../../_ui/toast.tsx";
import { ROLES, RoleBadge } from "../role-badge.tsx";
import { ArtistLimit, countOf } from "./artist-limit.tsx";

export function InvitationsSection({ organizationId }: { readonly organizationId: string }) {
  const path = `/api/organizations/${organizationId}/invitations`;
  const sent = usePages<SentInvitation>(path, "invitations");
  return (
    <section aria-labelledby="invitations">
      <h3 id="invitations" className="mb-3 font-semibold">
        Invitations
      </h3>
      <InviteForm {...{ path, organizationId }} onSent={sent.refresh} />
      <div className="mt-3">
        <PagedList
          label="Open invitations"
          pages={sent}
          loadingRows={2}
          more="invitations"
          empty={
            <p className="text-sm text-muted-foreground">
              No open invitations. Each is valid for 7 days. A viewer reads everything and changes
              nothing.
            </p>
          }
          keyOf={({ id }) => id}
        >
          {({ id, email, role, artist_ids, expires_at }) => (
            <div className="flex flex-wrap items-center gap-3 px-4 py-3">
              <span className="min-w-0 flex-1 basis-48">
                <span className="block font-medium wrap-anywhere">{email}</span>
                <span className="block text-sm text-muted-foreground">
                  Expires <time dateTime={expires_at}>{formatDate(expires_at)}</time>
                  {artist_ids !== null && ` · ${countOf(artist_ids)}`}
                </span>
              </span>
              <RoleBadge role={role} />
              <ConfirmDialog
                title="Revoke invitation?"
                description={`The link that was sent to ${email} no longer works.`}
                confirm="Revoke"
                onConfirm={() => remove(`${path}/${id}`)}
                onDone={() => {
                  toast(`Invitation to ${email} revoked`);
                  sent.refresh();
                }}
                button={{ size: "sm", "aria-label": `Revoke ${email}` }}
              />
            </div>
          )}
        </PagedList>
      </div>
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

type Draft = Readonly<{ email: string; role: string; artist_ids: readonly string[] | null }>;

function InviteForm({
  path,
  organizationId,
  onSent,
}: Readonly<{ path: string; organizationId: string; onSent: () => void }>) {
  const form = useForm<Draft>({ email: "", role: "member", artist_ids: null });
  const submit = async () => {
    const email = form.values.email.trim();
    const result = await form.send(path, { body: { ...form.values, email } });
    if (!result.ok) return;
    toast(`Invitation sent to ${email}`);
    form.set({ email: "", artist_ids: null });
    onSent();
  };
  return (
    <Card>
      <Form noValidate onSubmit={submit} className="flex flex-wrap items-start gap-3">
        <TextField
          label="Email"
          className="min-w-52 flex-1 max-sm:basis-full"
          type="email"
          autoComplete="off"
          maxLength={254}
          placeholder="manager@example.com"
          value={form.values.email}
          onChange={(email) => {
            form.set({ email });
            form.clearError();
          }}
          error={form.error ? describe(form.error) : undefined}
        />
        <SelectField label="Role" className="w-32" options={ROLES} {...form.field("role")} />
        {form.values.role !== "owner" && (
          <div className="mt-7">
            <ArtistLimit
              organizationId={organizationId}
              person="The invited person"
              value={form.values.artist_ids}
              onChange={(artist_ids) => form.set({ artist_ids })}
            />
          </div>
        )}
        <Button icon={Mail} type="submit" busy={form.busy} className="mt-6.5">
          Send invitation
        </Button>
      </Form>
    </Card>
  );
}
