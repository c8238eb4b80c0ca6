/** The facts that the model receives at the start of a turn. */

import { cutOutput } from "@platform/sandbox/cut-output";
import { z } from "zod";

/** The answer of `facts_of_turn` in SQL. */
export const turnFacts = z.object({
  at: z.iso.datetime({ offset: true }),
  timezone: z.string().optional(),
  name: z.string().optional(),
  organizations: z.array(z.object({ name: z.string().nullish(), role: z.string() })).default([]),
  artist: z
    .object({ id: z.string(), name: z.string().nullish(), label: z.string().nullish() })
    .optional(),
});
export type TurnFacts = z.output<typeof turnFacts>;

/** The start of the line, which no message of a user is taken for. */
const START = "[Facts from the platform, not from the user]";
const LINE = /^\[Facts from the platform, not from the user\] [^\n]*\n\n/;
const MAX_NAME_CHARS = 200;

/**
 * Returns the facts in one line, the same in each call of a turn, whenever it is made: "Saturday, 28 November 2026,
 * 14:05, Europe/Berlin. …". Empty for a turn of an earlier version, which has none.
 */
export function factsLine(facts: TurnFacts | null | undefined): string {
  if (!facts) return "";
  const { at, timezone, name, organizations, artist } = facts;
  const isKnown = timezone !== undefined && canUse(timezone);
  const style = { dateStyle: "full", timeStyle: "short" } as const;
  const date = new Intl.DateTimeFormat("en-GB", {
    ...style,
    timeZone: isKnown ? timezone : "UTC",
  }).formatToParts(new Date(at));
  const part = (type: string) => date.find((one) => one.type === type)?.value ?? "";
  const day = `${part("weekday")}, ${part("day")} ${part("month")} ${part("year")}`;
  const why = timezone ? `${timezone} is unknown here` : "the account has set no time zone";
  const zone = isKnown ? timezone : `UTC (${why})`;
  const roles = organizations.map(({ name: of, role }) => `${role} of ${quoted(of)}`);
  const user = [...(name ? [quoted(name)] : []), ...roles];
  return [
    `${START} ${day}, ${part("hour")}:${part("minute")}, ${zone}.`,
    ...(user.length > 0 ? [`User: ${user.join(", ")}.`] : []),
    ...(artist
      ? [
          `Artist: ${quoted(artist.name)}, id ${artist.id}${artist.label ? `, label ${quoted(artist.label)}` : ""}.`,
        ]
      : []),
  ].join(" ");
}

/** Releases of Node.js know different zones. */
function canUse(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en-GB", { timeZone }));
  } catch {
    return false;
  }
}

/** Names are data: they end with their quotation mark, and have no line breaks. */
const quoted = (name: string | null | undefined): string =>
  JSON.stringify(cutOutput(name ?? "", MAX_NAME_CHARS));

/** Returns the text of a message without the facts before it. */
export const withoutFacts = (text: string): string => text.replace(LINE, "");
