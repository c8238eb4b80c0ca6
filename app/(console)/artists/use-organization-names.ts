import { useMemo } from "react";
import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { listOrganizationsContract } from "@/lib/organizations/contract.ts";

type List = z.output<(typeof listOrganizationsContract)["responses"][200]["schema"]>;

/** Returns the names of the account's organizations by their ids; an account has at most 100. */
export function useOrganizationNames(): ReadonlyMap<string, string> {
  const { data } = useQuery<List>("/api/organizations?limit=100");
  return useMemo(
    () => new Map(data?.organizations.map((one) => [one.organization_id, one.organization_name])),
    [data],
  );
}
