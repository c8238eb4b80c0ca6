import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { withoutLinks } from "@platform/kit/shown-links";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Parts } from "../parts.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { createInvitationContract } from "./contract.ts";
import type { SentInvitation } from "./organization.ts";
import { insertInvitation, withdrawInvitation } from "./store.ts";

type Invited = z.output<typeof createInvitationContract.body>;

/**
 * Invites an address to an organization and mails it a link. The result reveals nothing about the
 * address: one that its mail server refuses, or that has had enough mails today, looks like any other.
 * Errors: as `insertInvitation`; 502 and 504 when the mail cannot be sent, without an invitation then.
 */
export async function inviteMember(
  app: Parts<"db" | "mail">,
  accountId: string,
  organizationId: string,
  asked: Invited,
  log: Logger,
): Promise<SentInvitation | AppError> {
  const invited = await insertInvitation(app.db, accountId, organizationId, asked);
  if (isAppError(invited)) return invited;
  const { invitation, mail, organization_name, inviter } = invited;
  if (!mail) return invitation;
  const { name, send } = app.mail;
  const organization = withoutLinks(organization_name);
  const sent = await send({
    to: asked.email,
    subject: `Invitation to join “${organization}”`,
    text: letter(organization, withoutLinks(inviter ?? "A member"), asked),
  });
  if (sent.kind !== "sent") {
    log.warn({ mailer: name, outcome: sent.kind, cause: sent.cause }, "mail");
  }
  if (sent.kind === "unavailable" || sent.kind === "timeout") {
    await withdrawInvitation(app.db, accountId, organizationId, invitation.id);
    const kind = sent.kind === "timeout" ? "upstream_timeout" : "upstream_error";
    return appError(kind, "Failed to send the invitation");
  }
  return invitation;
}

const letter = (organization: string, inviter: string, { role, artist_ids }: Invited): string =>
  `${inviter} has invited you to join the organization “${organization}” as ${role === "owner" ? "an owner" : `a ${role}`}.

Sign in with this address to accept or decline:
${serviceOrigin()}/invitations

The members of an organization can act for each other's accounts${role === "viewer" ? " and for a viewer's. A viewer can only read theirs" : ""}${artist_ids === null ? "" : `. You can ${role === "viewer" ? "see" : "act for"} some of its artists only`}. The invitation expires in 7 days. If you do not know the sender, you can ignore this email.
`;
