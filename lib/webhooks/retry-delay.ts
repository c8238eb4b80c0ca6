const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Ten attempts in 24 hours, after which a delivery fails. */
const DELAYS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
];

/**
 * Returns the seconds until the next attempt: as planned, plus or minus a fifth, so deliveries that
 * failed together are not repeated together.
 * @param attempt the number of the attempt that has failed, from 1
 * @param random a number from 0 to 1
 */
export function retryDelaySeconds(attempt: number, random = Math.random()): number {
  const planned = DELAYS[Math.min(attempt, DELAYS.length) - 1] ?? HOUR;
  return planned * (0.8 + 0.4 * random);
}
