import { services } from "../platform/services.ts";
import type { Chat, Session } from "./session.ts";
import { insertSession } from "./store.ts";

/**
 * Creates a session and its first chat in one transaction. The pipeline has checked the caller's
 * access to the artist and the organization.
 */
export function createSession(input: {
  readonly accountId: string;
  readonly organization_id?: string | null | undefined;
  readonly artistId?: string | null | undefined;
  readonly title?: string | undefined;
}): Promise<{ session: Session; chat: Chat }> {
  return insertSession({
    accountId: input.accountId,
    organizationId: input.organization_id ?? null,
    artistId: input.artistId ?? null,
    title: input.title ?? "",
    modelId: services().models.defaultModelId,
  });
}
