import { createHash, createHmac } from "node:crypto";
import { config } from "../../platform/config.ts";
import { areEqualTexts } from "../../platform/equal-texts.ts";

/** Is set on requests of the agent itself, never on those of its sandbox, which does not get to know its values. */
export const APPROVED_CALL = "x-agent-approved-call";

export interface ApprovedCall {
  readonly turnId: string;
  readonly method: string;
  /** The path of the URL. */
  readonly path: string;
  /** The parsed JSON. */
  readonly body: unknown;
}

/** Returns the value that shows that the policies of the turn have let exactly this request pass. */
export function markOf({ turnId, method, path, body }: ApprovedCall): string {
  const content = createHash("sha256")
    .update(JSON.stringify(body) ?? "")
    .digest("hex");
  return createHmac("sha256", config().API_KEY_SECRET)
    .update(`approved call ${turnId} ${method} ${path} ${content}`)
    .digest("base64url");
}

export const isMarked = (mark: string | null, call: ApprovedCall): boolean =>
  areEqualTexts(mark ?? "", markOf(call));
