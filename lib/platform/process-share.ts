import { config } from "./config.ts";

/**
 * Returns this process's share of a limit that holds for the whole machine.
 * @param least what each process gets at least, however many there are
 */
export const processShare = (limit: number, least: number): number =>
  Math.max(least, Math.ceil(limit / config().SERVER_PROCESSES));
