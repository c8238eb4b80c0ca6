import type { z } from "zod";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { getAccountContract } from "@/lib/accounts/contract.ts";

type Account = z.output<(typeof getAccountContract)["responses"][200]["schema"]>;

/** Returns the time zone of the account, else the browser's; undefined while the account loads. */
export function useTimeZone(): string | undefined {
  const { data, error } = useQuery<Account>("/api/accounts/me");
  if (data === undefined && error === null) return undefined;
  return data?.account.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
