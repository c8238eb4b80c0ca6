/** Cron expressions in time zones, as defined in OCPS 1.0: five fields, of a minute to a weekday. */
import { Cron } from "croner";

/**
 * Returns the first time of the schedule after `after`, to the minute; null when there is none, as for
 * 30 February.
 *
 * Where clocks are put forward, a time that is skipped falls on the end of the gap. Where they are put
 * back, a fixed time counts once, at its first occurrence, and a schedule of every hour or minute
 * continues through both.
 *
 * @throws Error when the schedule or the time zone is invalid
 */
export function nextRun(schedule: string, timezone: string, after: Date): Date | null {
  return new Cron(schedule, { mode: "5-part", timezone }).nextRun(after);
}

/** Returns the first times of the schedule from now on, at most as many. @throws Error as `nextRun` */
export const nextRuns = (schedule: string, timezone: string, count: number): Date[] =>
  new Cron(schedule, { mode: "5-part", timezone }).nextRuns(count);

/** Returns the end of a day in the time zone; null for a day that is over. @param day as YYYY-MM-DD */
export const endOfDay = (day: string, timezone: string): Date | null =>
  new Cron(`${day}T23:59:59`, { timezone }).nextRun();

export function isSchedule(text: string): boolean {
  // Cron also takes a date, and names of schedules such as @daily.
  if (text.trim().split(/\s+/).length !== 5) return false;
  try {
    new Cron(text, { mode: "5-part" });
    return true;
  } catch {
    return false;
  }
}
