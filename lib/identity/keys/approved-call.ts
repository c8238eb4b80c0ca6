/**
 * The mark of a request that an agent makes to this service itself: the policies of its turn have let exactly this
 * request pass, with these effects. Commands of the sandbox do not get to know marks. A mark counts once
 * (`use_approved_call`).
 */
import { createHash, createHmac } from "node:crypto";
import type { ApprovalCategory } from "@platform/endpoint/contract/approvals";
import { segmentsOf } from "@platform/endpoint/contract/effects";
import { config } from "../../platform/config.ts";
import { isMadeWithSecret } from "../../platform/find-secret.ts";

/** Has the mark. */
export const APPROVED_CALL = "x-agent-approved-call";

export interface ApprovedRequest {
  readonly turnId: string;
  readonly method: string;
  readonly url: URL;
  /** The parsed JSON, or the text of a body of bytes. */
  readonly body: unknown;
}

/** Returns the value of the header. @param callId the id under which the call of the tool is recorded */
export function markOf(
  request: ApprovedRequest,
  callId: string,
  categories: readonly ApprovalCategory[],
): string {
  const named = Buffer.from(JSON.stringify([callId, categories])).toString("base64url");
  return `${named}.${signatureOf(request, named)}`;
}

/** Returns the call and the effects that the mark of a request is for; null without one for this request. */
export function readMark(
  mark: string | null,
  request: ApprovedRequest,
): { readonly callId: string; readonly categories: readonly string[] } | null {
  const [named = "", signature = ""] = mark?.split(".") ?? [];
  if (!isMadeWithSecret(signature, (secret) => signatureOf(request, named, secret))) return null;
  const [callId, categories] = JSON.parse(Buffer.from(named, "base64url").toString());
  return { callId, categories };
}

function signatureOf(
  { turnId, method, url, body }: ApprovedRequest,
  named: string,
  secret = config().API_KEY_SECRET,
): string {
  const content = createHash("sha256")
    .update(JSON.stringify(body) ?? "")
    .digest("hex");
  const signed = [turnId, named, method, segmentsOf(url.pathname), [...url.searchParams], content];
  return createHmac("sha256", secret)
    .update(`approved call ${JSON.stringify(signed)}`)
    .digest("base64url");
}
