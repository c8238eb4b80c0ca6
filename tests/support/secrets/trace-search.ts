/**
 * Searches for every form of thousands of secrets in one pass: a rolling hash over a window as long
 * as the shortest form (Rabin-Karp), whose time depends on the bytes and not on the secrets.
 */
import { formsOf } from "./forms.ts";

export interface KnownSecret {
  readonly secret: string;
  /** The kind, for the report, which does not contain the secret. */
  readonly kind: string;
  /** Somewhere that lasts has it in disguise, because a test put it there: only the whole in clear counts. */
  readonly disguised?: boolean;
}

interface Pattern {
  readonly bytes: Buffer;
  readonly label: string;
}

/** No secret may be shorter: chance alone would find it. */
export const MIN_SECRET_LENGTH = 16;
const BASE = 0x01000193;
const FILTER_BITS = 1 << 24;
const BYTES_AT_ONCE = 1 << 20;

export class TraceSearch {
  readonly #patterns = new Map<number, Pattern[]>();
  /** Excludes most hashes at once, because no pattern starts with them. */
  readonly #filter = new Uint8Array(FILTER_BITS / 8);
  #longest = 0;
  #leaving = 1;

  constructor(secrets: readonly KnownSecret[]) {
    for (let at = 1; at < MIN_SECRET_LENGTH; at++) this.#leaving = Math.imul(this.#leaving, BASE);
    const labels = new Map<string, string>();
    for (const { secret, kind, disguised } of secrets) {
      for (const [form, text] of disguised ? [["clear", secret] as const] : formsOf(secret)) {
        if (!labels.has(text)) labels.set(text, `${kind} ${secret.slice(0, 5)}…, ${form}`);
      }
    }
    for (const [text, label] of labels) this.#add({ bytes: Buffer.from(text), label });
  }

  #add(pattern: Pattern): void {
    if (pattern.bytes.length < MIN_SECRET_LENGTH) throw new Error(`Too short: ${pattern.label}`);
    this.#longest = Math.max(this.#longest, pattern.bytes.length);
    let hash = 0;
    for (let at = 0; at < MIN_SECRET_LENGTH; at++) hash = roll(hash, pattern.bytes[at] ?? 0);
    const bit = slotOf(hash);
    this.#filter[bit >>> 3] = (this.#filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
    const others = this.#patterns.get(hash);
    if (others) others.push(pattern);
    else this.#patterns.set(hash, [pattern]);
  }

  /** The secrets in these bytes, by label. */
  find(bytes: Uint8Array): Set<string> {
    const found = new Set<string>();
    const filter = this.#filter;
    const leaving = this.#leaving;
    let hash = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (at >= MIN_SECRET_LENGTH) {
        const left = Math.imul(bytes[at - MIN_SECRET_LENGTH] ?? 0, leaving);
        hash = (hash - left) | 0;
      }
      hash = roll(hash, bytes[at] ?? 0);
      const bit = slotOf(hash);
      if (((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) continue;
      const start = at + 1 - MIN_SECRET_LENGTH;
      for (const { bytes: pattern, label } of this.#patterns.get(hash) ?? []) {
        const part = bytes.subarray(Math.max(start, 0), start + pattern.length);
        if (start >= 0 && pattern.equals(part)) found.add(label);
      }
    }
    return found;
  }

  /** As `find`, in pieces of any size; a trace may lie across them. */
  async findIn(pieces: AsyncIterable<Uint8Array | string>): Promise<Set<string>> {
    const found = new Set<string>();
    let waiting: Uint8Array[] = [];
    let size = 0;
    const search = () => {
      const bytes = Buffer.concat(waiting);
      for (const label of this.find(bytes)) found.add(label);
      waiting = [bytes.subarray(Math.max(0, bytes.length - this.#longest))];
      size = 0;
    };
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece);
      waiting.push(bytes);
      size += bytes.length;
      if (size >= BYTES_AT_ONCE) search();
    }
    search();
    return found;
  }
}

const roll = (hash: number, byte: number): number => (Math.imul(hash, BASE) + byte) | 0;
const slotOf = (hash: number): number => (hash ^ (hash >>> 15)) & (FILTER_BITS - 1);
