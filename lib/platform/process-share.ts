import type { Config } from "./config.ts";

/**
 * Returns this process's share of a limit that holds for the whole machine.
 * @param least the minimum for each process, however many there are
 */
export const processShare = (
  { SERVER_PROCESSES }: Pick<Config, "SERVER_PROCESSES">,
  limit: number,
  least: number,
): number => Math.max(least, Math.ceil(limit / SERVER_PROCESSES));

/** The connections to PostgreSQL of the pools of one kind, in all processes of a machine. */
const MAX_CONNECTIONS = 80;
/** Ten connections are enough for hundreds of runs. */
const MAX_CONNECTIONS_PER_PROCESS = 10;

/** @returns the connections that one pool of this process may open */
export const poolSize = (settings: Pick<Config, "SERVER_PROCESSES">, least: number): number =>
  Math.min(MAX_CONNECTIONS_PER_PROCESS, processShare(settings, MAX_CONNECTIONS, least));
