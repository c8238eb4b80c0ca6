/** Time zones and the formats of `strftime`, for `date` and the functions of gawk. */

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June", "July", "August", "September"],
  ...["October", "November", "December"],
];
const DAY_MS = 86_400_000;
/** Each names the zones of its part of the world by their letters. */
const LOCALES = ["en-US", "en-GB", "en-AU", "en-NZ", "en-IN", "en-ZA", "ja-JP"];

/** Returns the zone of a variable `TZ`, which is UTC if no such zone exists. */
export function zoneOf(name: string | undefined): string {
  try {
    if (name) return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {}
  return "UTC";
}

/** Returns the offset of a zone from UTC in minutes. */
function offsetAt(ms: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  const name = zoneName(ms, timeZone, "longOffset", "en-US");
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
}

function zoneName(
  ms: number,
  timeZone: string,
  timeZoneName: "longOffset" | "short",
  locale: string,
) {
  const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }).formatToParts(ms);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** Returns the time at which the clocks of a zone show a time, given as if it were UTC. */
function fromLocal(local: number, timeZone: string): number {
  const guess = local - offsetAt(local, timeZone) * 60_000;
  return local - offsetAt(guess, timeZone) * 60_000;
}

/** Returns a time as the clocks of a zone show it, as if it were UTC. */
const toLocal = (ms: number, timeZone: string): number => ms + offsetAt(ms, timeZone) * 60_000;

const pad = (value: number, width: number, fill = "0") => String(value).padStart(width, fill);

const COMPOSED: Readonly<Record<string, string>> = {
  ...{ c: "%a %b %e %H:%M:%S %Y", D: "%m/%d/%y", F: "%Y-%m-%d", R: "%H:%M", r: "%I:%M:%S %p" },
  ...{ T: "%H:%M:%S", X: "%H:%M:%S", x: "%m/%d/%y" },
};

function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (3 - ((date.getUTCDay() + 6) % 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  return { year, week: 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) };
}

/** Formats a time as GNU date does. @param nanoseconds the part below a millisecond */
export function formatTime(format: string, ms: number, timeZone: string, nanoseconds = 0): string {
  const date = new Date(toLocal(ms, timeZone));
  const year = date.getUTCFullYear();
  const [month, day, hour] = [date.getUTCMonth(), date.getUTCDate(), date.getUTCHours()];
  const [minute, second, weekday] = [date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCDay()];
  const yearDay = Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  const offset = offsetAt(ms, timeZone);
  const clock = (minutes: number, colon: string) =>
    `${minutes < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(minutes) / 60), 2)}${colon}${pad(Math.abs(minutes) % 60, 2)}`;
  const plain = format.replace(
    /%([%cDFRrTXx])/g,
    (whole, letter: string) => COMPOSED[letter] ?? whole,
  );
  const letters = () => {
    if (timeZone === "UTC") return "UTC";
    const names = LOCALES.map((locale) => zoneName(ms, timeZone, "short", locale));
    const short = clock(offset, "").replace(/00$/, "");
    return names.find((name) => /^[A-Z]{3,5}$/.test(name)) ?? short;
  };
  const hour12 = hour % 12 || 12;
  /** Each with its width, its fill, and its value. */
  const numbers: Record<string, readonly [width: number, fill: string, value: number]> = {
    C: [2, "0", Math.floor(year / 100)],
    d: [2, "0", day],
    e: [2, " ", day],
    G: [4, "0", isoWeek(date).year],
    g: [2, "0", isoWeek(date).year % 100],
    H: [2, "0", hour],
    I: [2, "0", hour12],
    j: [3, "0", yearDay + 1],
    k: [2, " ", hour],
    l: [2, " ", hour12],
    M: [2, "0", minute],
    m: [2, "0", month + 1],
    N: [9, "0", (((ms % 1000) + 1000) % 1000) * 1_000_000 + nanoseconds],
    S: [2, "0", second],
    s: [1, "0", Math.floor(ms / 1000)],
    U: [2, "0", Math.floor((yearDay + 7 - weekday) / 7)],
    u: [1, "0", weekday || 7],
    V: [2, "0", isoWeek(date).week],
    W: [2, "0", Math.floor((yearDay + 7 - ((weekday + 6) % 7)) / 7)],
    w: [1, "0", weekday],
    Y: [4, "0", year],
    y: [2, "0", year % 100],
    q: [1, "0", Math.floor(month / 3) + 1],
  };
  const [dayName = "", monthName = ""] = [DAYS[weekday], MONTHS[month]];
  const texts: Record<string, string> = {
    ...{ "%": "%", n: "\n", t: "\t", A: dayName, a: dayName.slice(0, 3), B: monthName },
    ...{
      b: monthName.slice(0, 3),
      h: monthName.slice(0, 3),
      Z: format.includes("Z") ? letters() : "",
    },
    ...{ P: hour < 12 ? "am" : "pm", p: hour < 12 ? "AM" : "PM" },
    ...{ z: clock(offset, ""), ":z": clock(offset, ":"), "::z": `${clock(offset, ":")}:00` },
  };
  return plain.replace(
    /%([-_0^#]*)(\d{0,3})[EO]?(:{0,2}[A-Za-z%])/g,
    (whole, flags: string, given: string, letter: string) => {
      const upper = (text: string) => {
        if (flags.includes("#") && /[pZ]/.test(letter)) return text.toLowerCase();
        return /[\^#]/.test(flags) ? text.toUpperCase() : text;
      };
      const text = texts[letter];
      if (text !== undefined)
        return upper(text).padStart(Number(given), flags.includes("0") ? "0" : " ");
      const [usual, fill, value] = numbers[letter] ?? [];
      if (usual === undefined || fill === undefined || value === undefined) return whole;
      if (letter === "N") return pad(value, 9).slice(0, Number(given) || 9);
      if (flags.includes("-")) return String(value);
      const filled = flags.includes("_") ? " " : flags.includes("0") ? "0" : fill;
      return pad(value, Number(given) || usual, filled);
    },
  );
}

const ORDINALS =
  "this,first,,third,fourth,fifth,sixth,seventh,eighth,ninth,tenth,eleventh,twelfth".split(",");
const UNITS_MS: Readonly<Record<string, number>> = {
  ...{ sec: 1000, second: 1000, min: 60_000, minute: 60_000, hour: 3_600_000 },
};
const UNIT_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, fortnight: 14 };
const ZONES: Readonly<Record<string, number>> = {
  ...{ z: 0, utc: 0, gmt: 0, ut: 0, wet: 0, bst: 60, cet: 60, cest: 120, est: -300, edt: -240 },
  ...{ cst: -360, cdt: -300, mst: -420, mdt: -360, pst: -480, pdt: -420, jst: 540 },
};
const ORDINAL = `(next|last|${ORDINALS.filter(Boolean).join("|")}|[+-]\\s*\\d+|\\d+)?\\s*`;
const MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]{0,6})\\.?";
const RULES: Readonly<Record<string, RegExp>> = {
  epoch: /^@(-?\d{1,12})(?:\.(\d{1,9}))?$/,
  iso: /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:t(?=\d))?/,
  us: /^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}|\d\d))?(?![\d/])/,
  compact: /^(\d{4})(\d\d)(\d\d)(?:t(?=\d)|(?!\d))/,
  dayMonth: new RegExp(`^(\\d{1,2})[- ]?${MONTH}(?![a-z])(?:[-, ]*(\\d{4})(?![\\d:]))?`),
  monthDay: new RegExp(`^${MONTH}[- ]?(\\d{1,2})(?![\\d:])(?:[, ]+(\\d{4})(?![\\d:]))?`),
  time: /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:\s*([ap])\.?m\.?)?/,
  hour: /^(\d{1,2})\s*([ap])\.?m\.?(?![a-z])/,
  offset: /^([+-])\s*(\d{1,2})(?::?(\d\d))?(?!\d|\s*(?:st|nd|rd|th))/,
  zone: new RegExp(`^(?:utc|gmt)?(${Object.keys(ZONES).join("|")})(?![a-z])`),
  relative: new RegExp(
    `^${ORDINAL}(year|month|fortnight|week|day|hour|min(?:ute)?|sec(?:ond)?)s?(?![a-z])(\\s*ago)?`,
  ),
  weekday: new RegExp(`^${ORDINAL}(sun|mon|tue|wed|thu|fri|sat)(?:[a-z]{0,6})(?![a-z])`),
  word: /^(now|today|yesterday|tomorrow)(?![a-z])/,
};

const countOf = (ordinal: string | undefined, usual: number): number => {
  if (ordinal === undefined) return usual;
  if (ordinal === "next") return 1;
  if (ordinal === "last") return -1;
  const named = ORDINALS.indexOf(ordinal);
  return named === -1 ? Number(ordinal.replace(/\s/g, "")) : named;
};

/** Returns the time that a text of `date -d` means, in milliseconds; null for an invalid date. */
export function parseTime(given: string, now: number, environmentZone: string): number | null {
  let timeZone = environmentZone;
  let rest = given.trim().replace(/^TZ="([^"]*)"\s*/, (_, name: string) => {
    timeZone = zoneOf(name);
    return "";
  });
  rest = rest.toLowerCase().replace(/\s+/g, " ");
  if (rest.length > 200) return null;
  const start = new Date(toLocal(now, timeZone));
  let [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  let clock: number | null = null;
  let offset: number | null = null;
  let weekday: { readonly count: number; readonly index: number } | null = null;
  const add = { year: 0, month: 0, days: 0, ms: 0 };
  let hasDate = rest === "";
  const setDate = (y: string | undefined, m: number, d: string | undefined): void => {
    if (y !== undefined) year = Number(y) + (y.length === 2 ? (Number(y) < 69 ? 2000 : 1900) : 0);
    [month, day, hasDate] = [m, Number(d), true];
  };
  const monthOf = (name = "") => MONTHS.findIndex((full) => full.toLowerCase().startsWith(name));
  const hourOf = (hour: string | undefined, half: string | undefined): number =>
    half ? (Number(hour) % 12) + (half === "p" ? 12 : 0) : Number(hour);
  while (rest !== "") {
    let name = "";
    let match: RegExpExecArray | null = null;
    for (const [rule, pattern] of Object.entries(RULES)) {
      // A number with a sign is a zone after a time alone.
      if (rule === "offset" && (clock === null || offset !== null)) continue;
      match = pattern.exec(rest);
      name = rule;
      if (match) break;
    }
    if (!match) return null;
    const [whole, a, b, c, d, e] = match;
    rest = rest.slice(whole.length).replace(/^[ ,]+/, "");
    if (name === "epoch") return Number(a) * 1000 + Math.floor(Number(`0.${b ?? 0}`) * 1000);
    if (name === "iso") setDate(a, Number(c) - 1, d);
    else if (name === "us") setDate(c, Number(a) - 1, b);
    else if (name === "compact") setDate(a, Number(b) - 1, c);
    else if (name === "dayMonth") setDate(c, monthOf(b), a);
    else if (name === "monthDay") setDate(c, monthOf(a), b);
    else if (name === "time") {
      const hour = hourOf(a, e);
      if (hour > 24 || Number(b) > 59 || Number(c ?? 0) > 60) return null;
      clock =
        (hour * 60 + Number(b)) * 60_000 + Number(c ?? 0) * 1000 + Number(`0.${d ?? 0}`) * 1000;
    } else if (name === "hour") clock = hourOf(a, b) * 3_600_000;
    else if (name === "offset") offset = Number(`${a}1`) * (Number(b) * 60 + Number(c ?? 0));
    else if (name === "zone") offset = ZONES[a ?? ""] ?? 0;
    else if (name === "weekday") {
      const index = DAYS.findIndex((full) => full.toLowerCase().startsWith(b ?? ""));
      weekday = { count: countOf(a, 0), index };
    } else if (name === "word") add.days += a === "yesterday" ? -1 : a === "tomorrow" ? 1 : 0;
    else {
      const count = countOf(a, 1) * (c ? -1 : 1);
      if (b === "year" || b === "month") add[b] += count;
      else if (UNIT_DAYS[b ?? ""] !== undefined) add.days += count * (UNIT_DAYS[b ?? ""] ?? 0);
      else add.ms += count * (UNITS_MS[b ?? ""] ?? 0);
    }
  }
  const dayOf = new Date(Date.UTC(year, month, day));
  if (dayOf.getUTCMonth() !== month || dayOf.getUTCDate() !== day) return null;
  const keepsClock = clock === null && !hasDate && weekday === null;
  const local = keepsClock ? start.getTime() % DAY_MS : (clock ?? 0);
  if (weekday && !hasDate) {
    const { count, index } = weekday;
    const ahead = (index - dayOf.getUTCDay() + 7) % 7;
    add.days += ahead + 7 * (count - (count > 0 && ahead !== 0 ? 1 : 0));
  }
  const shown = Date.UTC(year + add.year, month + add.month, day + add.days) + local;
  const ms = offset === null ? fromLocal(shown, timeZone) : shown - offset * 60_000;
  return Number.isFinite(ms) && Math.abs(ms) < 8e15 ? ms + add.ms : null;
}
