import type { Logger } from "pino";
import type { App } from "../app.ts";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { Role, SentInvitation } from "./organization.ts";
import { insertInvitation, withdrawInvitation } from "./store.ts";

/**
 * Invites an address to an organization and mails it a link. The result reveals nothing about the
 * address: one that its mail server refuses, or that has had enough mails today, looks like any other.
 * Errors: as `insertInvitation`; 502 and 504 when the mail cannot be sent, without an invitation then.
 */
export async function inviteMember(
  app: Pick<App, "mail">,
  accountId: string,
  organizationId: string,
  { email, role }: { readonly email: string; readonly role: Role },
  log: Logger,
): Promise<SentInvitation | AppError> {
  const invited = await insertInvitation(accountId, organizationId, email, role);
  if (isAppError(invited)) return invited;
  const { invitation, mail, organization_name: organization, inviter } = invited;
  if (!mail) return invitation;
  const { name, send } = app.mail;
  const sent = await send({
    to: email,
    subject: `Invitation to join “${organization}”`,
    text: letter(organization, inviter ?? "A member", role),
  });
  if (sent.kind !== "sent") {
    log.warn({ mailer: name, outcome: sent.kind, cause: sent.cause }, "mail");
  }
  if (sent.kind === "unavailable" || sent.kind === "timeout") {
    await withdrawInvitation(accountId, organizationId, invitation.id);
    const kind = sent.kind === "timeout" ? "upstream_timeout" : "upstream_error";
    return appError(kind, "Failed to send the invitation");
  }
  return invitation;
}

const letter = (organization: string, inviter: string, role: Role): string =>
  `${inviter} has invited you to join the organization “${organization}” as ${role === "owner" ? "an owner" : `a ${role}`}.

Sign in with this address to accept or decline:
${serviceOrigin()}/invitations

The members of an organization can act for each other's accounts${role === "viewer" ? " and for a viewer's. A viewer can only read theirs" : ""}. The invitation expires in 7 days. If you do not know the sender, you can ignore this email.
`;
