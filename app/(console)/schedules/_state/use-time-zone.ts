import { useAccount } from "@/app/(console)/_hooks/shared-reads.ts";

/** Returns the time zone of the account, else the browser's; undefined while the account loads. */
export function useTimeZone(): string | undefined {
  const { data, error } = useAccount();
  if (data === undefined && error === null) return undefined;
  return data?.account.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
