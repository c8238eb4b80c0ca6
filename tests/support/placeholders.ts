/** What differs from one run to the next, replaced by values that stay: so that answers can be compared. */
import { createHash } from "node:crypto";

const DAY = 86_400_000;
/** The day on which all recorded answers were given. */
const TODAY = Date.UTC(2026, 10, 20, 16, 50, 31, 474);

/** What was measured: how long something took, how large a picture has become. */
const measures: Readonly<Record<string, unknown>> = {
  ms: 2,
  readyMs: 5,
  durationMs: 42,
  "x-workflow-stream-tail-index": "9",
  "content-range": "bytes 0-99/617059",
};

/** Random in every run, each form with a stand-in of the same form. */
const forms: readonly (readonly [RegExp, (seed: Buffer) => string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, asUuid],
  [/\bap_[A-Za-z0-9]{49}\b/g, (seed) => `ap_${asWord(seed, 49)}`],
  [/\bwrun_[0-9A-Z]{26}\b/g, (seed) => `wrun_${asWord(seed, 26).toUpperCase()}`],
  [/\bcall_[0-9a-f]{32}\b/g, (seed) => `call_${seed.toString("hex", 0, 16)}`],
  [/(?<=\b(?:run|attempt)_)[0-9a-f]{24}\b/g, (seed) => seed.toString("hex", 0, 12)],
  [/(?<![\w-])[0-9a-f]{32}(?=\.(?:mp4|png|jpg|webp)\b)/g, (seed) => seed.toString("hex", 0, 16)],
  [/(?<=[?&]state=)[A-Za-z0-9_-]{43}/g, (seed) => asWord(seed, 43)],
];
const date = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{3})?Z/g;
/** The place of a row, a date and a UUID, as pages give it. */
const cursor = /(?<![\w-])[\w-]{86}(?![\w-])/g;

export class Placeholders {
  readonly #started = Date.now();
  readonly #told: (readonly [text: string, standIn: string])[] = [];
  readonly #standIns = new Map<string, string>();

  /** A text that this run has made up. */
  tell(text: string, standIn: string): void {
    this.#told.push([text, standIn]);
  }

  /** A text that looks like one of a run, and is the same in every run. */
  keep(text: string): void {
    this.#standIns.set(text, text);
  }

  /** @param place where the value stands: what is first seen there is named after it, in every run */
  replace(value: unknown, place: string): unknown {
    if (typeof value === "string") return this.#replaceText(value, place);
    if (Array.isArray(value)) {
      return value.map((item, index) => this.replace(item, `${place}.${index}`));
    }
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, inner]) => {
      const measure = measures[name];
      const isMeasure = measure !== undefined && typeof measure === typeof inner;
      return [name, isMeasure ? measure : this.replace(inner, `${place}.${name}`)];
    });
    return Object.fromEntries(entries);
  }

  #replaceText(text: string, place: string): string {
    let replaced = this.#standIns.get(text) ?? text;
    for (const [told, standIn] of this.#told) replaced = replaced.replaceAll(told, standIn);
    replaced = replaced.replace(cursor, (found) => {
      const place = Buffer.from(found, "base64url").toString("latin1");
      if (!place.match(date)) return found;
      return Buffer.from(this.#replaceText(place, ""), "latin1").toString("base64url");
    });
    let count = 0;
    for (const [form, standIn] of forms) {
      replaced = replaced.replace(form, (found) => {
        const known = this.#standIns.get(found);
        if (known !== undefined) return known;
        const made = standIn(createHash("sha512").update(`${place} ${count++}`).digest());
        this.#standIns.set(found, made);
        this.keep(made);
        // The first characters of a key are shown for it.
        if (found.startsWith("ap_")) this.#standIns.set(found.slice(0, 7), made.slice(0, 7));
        return made;
      });
    }
    // Inside the frames of a stream.
    replaced = replaced.replaceAll(/(?<="durationMs":)\d+/g, String(measures.durationMs));
    return replaced.replace(date, (found, microseconds) => {
      const days = Math.round((Date.parse(found) - this.#started) / DAY);
      const day = new Date(TODAY + days * DAY).toISOString();
      return microseconds === undefined ? day : day.replace("Z", "000Z");
    });
  }
}

function asUuid(seed: Buffer): string {
  const hex = seed.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const LETTERS = "ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz0123456789";

function asWord(seed: Buffer, length: number): string {
  return Array.from(seed.subarray(0, length), (byte) => LETTERS[byte % LETTERS.length]).join("");
}
