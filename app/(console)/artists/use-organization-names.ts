import { useOrganizations } from "@/app/(console)/_hooks/shared-reads.ts";

/** Returns the names of the account's organizations by their ids. */
export function useOrganizationNames(): ReadonlyMap<string, string> {
  const organizations = useOrganizations();
  return new Map(organizations.map((one) => [one.organization_id, one.organization_name]));
}
