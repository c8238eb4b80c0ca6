/** Entries named for each sandbox. */
const MAX_NAMED = 3;
const MAX_NAME_CHARS = 200;

/** Notes that a backup leaves out an entry, by its name below `DATA_DIR`. */
export type LeaveOut = (name: string, reason: string) => void;

/** The entries of sandboxes that a backup leaves out. */
export class LeftOut {
  #count = 0;
  readonly #bySandbox = new Map<string, { count: number; named: string[] }>();

  readonly add: LeaveOut = (name, reason) => {
    this.#count += 1;
    const sandbox = name.split("/", 2).join("/");
    const found = this.#bySandbox.get(sandbox) ?? { count: 0, named: [] };
    this.#bySandbox.set(sandbox, found);
    found.count += 1;
    if (found.named.length < MAX_NAMED) found.named.push(`  ${quote(name)}: ${reason}`);
  };

  /** Returns a text for the terminal; undefined when nothing was left out. */
  summary(): string | undefined {
    if (this.#count === 0) return undefined;
    const lines = [...this.#bySandbox].flatMap(([sandbox, { count, named }]) =>
      count > named.length
        ? [...named, `  ${quote(sandbox)}: ${count - named.length} more`]
        : named,
    );
    return [`Left out of the backup: ${this.#count} entries of sandboxes`, ...lines].join("\n");
  }
}

/** Shortens a name that a command has chosen, and escapes characters that a terminal obeys or hides. */
function quote(name: string): string {
  const half = MAX_NAME_CHARS / 2;
  const short = name.length > MAX_NAME_CHARS ? `${name.slice(0, half)}…${name.slice(-half)}` : name;
  return JSON.stringify(short).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
