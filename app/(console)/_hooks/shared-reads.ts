/** The reads that several pages share: one request and one copy for all of them. */
import type { getAccountContract, getAccountIdContract } from "@/lib/accounts/contract.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import type { createKeyContract, listKeysContract } from "@/lib/identity/keys/contract.ts";
import type { ModelList } from "@/lib/models/contract.ts";
import type { Organization } from "@/lib/organizations/organization.ts";
import type { Template } from "@/lib/templates/template.ts";
import type { listRunsContract } from "@/lib/turns/run-contract.ts";
import type { Answer } from "../_api/request.ts";
import { type Poll, type Query, useQuery } from "./use-query.ts";

export type Me = Answer<typeof getAccountContract>;
export type Runs = Answer<typeof listRunsContract>;
export type KeyList = Answer<typeof listKeysContract>;
export type Model = ModelList["models"][number];

export const useAccount = (): Query<Me> => useQuery<Me>("/api/accounts/me");

/** Returns the id of the signed-in account; null while it loads. */
export const useOwnAccount = (): string | null =>
  useQuery<Answer<typeof getAccountIdContract>>("/api/accounts/id").data?.accountId ?? null;

/** Reads the models to choose from; nothing if they are not wanted. */
export const useModels = (isWanted = true): Query<ModelList> =>
  useQuery<ModelList>(isWanted ? "/api/models" : null);

/** Reads the newest runs and how much waits, unless not wanted; parts of a page that mount within 5 s share a response. */
export const useNewestRuns = (poll: Poll<Runs>, isWanted = true): Query<Runs> =>
  useQuery<Runs>(isWanted ? "/api/chat/runs?limit=50&include=waiting" : null, poll, 5_000);

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

export function useOrganizationNames(): ReadonlyMap<string, string> {
  const organizations = useOrganizations();
  return new Map(organizations.map((one) => [one.organization_id, one.organization_name]));
}

export type ListedKey = KeyList["keys"][number];
export type CreatedKey = Answer<typeof createKeyContract>;
