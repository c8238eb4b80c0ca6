/** The reads that several pages share: one request and one copy for all of them. */
import { useEffect } from "react";
import type { getAccountContract, getAccountIdContract } from "@/lib/accounts/contract.ts";
import type { ModelList } from "@/lib/agent/models/contract.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import type { createKeyContract, listKeysContract } from "@/lib/identity/keys/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import type { listAccountChatsContract } from "@/lib/sessions/chats-contract.ts";
import type { Template } from "@/lib/templates/template.ts";
import type { listApprovalsContract } from "@/lib/turns/approvals-contract.ts";
import type { listRunsContract } from "@/lib/turns/run-contract.ts";
import type { Answer } from "../_api/request.ts";
import { onChatEvent } from "../chat/_state/chat-events.ts";
import { type Poll, type Query, useQuery } from "./use-query.ts";

/** The response of `GET /api/accounts/me`. */
export type Me = Answer<typeof getAccountContract>;
export type Runs = Answer<typeof listRunsContract>;
type Approvals = Answer<typeof listApprovalsContract>;
type Chats = Answer<typeof listAccountChatsContract>;
export type KeyList = Answer<typeof listKeysContract>;
export type Model = ModelList["models"][number];

export const useAccount = (): Query<Me> => useQuery<Me>("/api/accounts/me");

/** Returns the id of the signed-in account; null while it loads. */
export const useOwnAccount = (): string | null =>
  useQuery<Answer<typeof getAccountIdContract>>("/api/accounts/id").data?.accountId ?? null;

export const useModels = (): Query<ModelList> => useQuery<ModelList>("/api/models");

/** Reads the newest runs of the account. */
export const useNewestRuns = (poll: Poll<Runs>): Query<Runs> =>
  useQuery<Runs>("/api/chat/runs?limit=50", poll);

/** Returns how much waits for a person or a client, up to 50 of each kind; 0 until it is read, or if it is not wanted. */
export function useWaiting(isWanted: boolean): number {
  const pathOf = (path: string) => (isWanted ? `${path}&limit=50` : null);
  const runs = useQuery<Runs>(pathOf("/api/chat/runs?status=requires_action"), 60_000);
  // Those of mails, too, whose runs are completed.
  const approvals = useQuery<Approvals>(pathOf("/api/approvals?state=requested"), 60_000);
  const chats = useQuery<Chats>(pathOf("/api/chats?waiting=true&archived=false"), 60_000);
  const [readRuns, readApprovals, readChats] = [runs.reload, approvals.reload, chats.reload];
  useEffect(
    () =>
      isWanted
        ? onChatEvent(() => {
            readRuns();
            readApprovals();
            readChats();
          })
        : undefined,
    [isWanted, readRuns, readApprovals, readChats],
  );
  const ids = [
    ...(runs.data?.runs.map(({ runId }) => runId) ?? []),
    ...(approvals.data?.approvals.map(({ run_id }) => run_id) ?? []),
  ];
  return new Set(ids).size + (chats.data?.chats.length ?? 0);
}

/** Reads the API keys; nothing if they are not wanted. */
export const useKeys = (isWanted = true, poll: Poll<KeyList> = false): Query<KeyList> =>
  useQuery<KeyList>(isWanted ? "/api/keys" : null, poll);

/** Reads the templates to choose from, at most 100. */
export const useTemplateChoices = (): Query<{ templates: Template[] }> =>
  useQuery<{ templates: Template[] }>("/api/agents/templates?limit=100");

/** Returns the artists to choose from, at most 100; none until they are loaded or if they are not wanted. */
export const useArtists = (isWanted = true): Artist[] =>
  useQuery<{ artists: Artist[] }>(isWanted ? "/api/artists?limit=100" : null).data?.artists ?? [];

/** Returns an artist; undefined for null, and until it is loaded. */
export const useArtist = (id: string | null): Artist | undefined =>
  useQuery<{ artist: Artist }>(id && `/api/artists/${id}`).data?.artist;

/** Returns the organizations of the account, which has at most 100; none until they are loaded. */
export const useOrganizations = (): Organization[] =>
  useQuery<{ organizations: Organization[] }>("/api/organizations?limit=100").data?.organizations ??
  [];

/** Returns the names of the account's organizations by their ids. */
export function useOrganizationNames(): ReadonlyMap<string, string> {
  const organizations = useOrganizations();
  return new Map(organizations.map((one) => [one.organization_id, one.organization_name]));
}

export type ListedKey = KeyList["keys"][number];
export type CreatedKey = Answer<typeof createKeyContract>;
