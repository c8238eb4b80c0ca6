import type { Config } from "./config.ts";

/**
 * Returns this process's share of a limit that holds for the whole machine.
 * @param least what each process gets at least, however many there are
 */
export const processShare = (
  { SERVER_PROCESSES }: Pick<Config, "SERVER_PROCESSES">,
  limit: number,
  least: number,
): number => Math.max(least, Math.ceil(limit / SERVER_PROCESSES));
