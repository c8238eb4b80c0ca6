/** Searches everything that the service stores or reports to its operator for the secrets of the tests. */
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import postgres, { type Sql } from "postgres";
import { type KnownCode, readKnown } from "./known.ts";
import { TraceSearch } from "./trace-search.ts";

const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 1 << 20;
/** Of PostgreSQL, and longer than any form of a secret. */
const PAGE = 8192;
const ZEROS = Buffer.alloc(PAGE);

/** Of a data directory: where embedded secrets are kept, and mail, which is to bring codes. */
const MEANT_TO_HOLD = new Set(["secrets.json", "mailbox"]);

export class StorageSearch {
  readonly #search: TraceSearch;
  readonly #codes: readonly KnownCode[];

  /** Knows all secrets registered so far. */
  constructor(records: string) {
    const { secrets, codes } = readKnown(records);
    this.#search = new TraceSearch(secrets);
    this.#codes = codes;
  }

  /** Every row of every table of every schema that is not PostgreSQL's own, bytes also decoded. */
  async database(url: string): Promise<string[]> {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    try {
      const tables = await sql`
        select format('%I.%I', n.nspname, c.relname) as name,
          (select array_agg(format('%I', a.attname)) from pg_attribute a
            where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
              and a.atttypid = 'bytea'::regtype) as bytes
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
        order by 1`;
      const findings: string[] = [];
      for (const { name, bytes } of tables) {
        findings.push(...(await this.#table(sql, String(name), bytes ?? [])));
      }
      return findings;
    } finally {
      await sql.end();
    }
  }

  async #table(sql: Sql, name: string, bytes: readonly string[]): Promise<string[]> {
    const columns = ["searched_row::text as row", ...bytes].join(", ");
    // The parameter makes it a query of the extended protocol, which alone has cursors.
    const query = sql.unsafe(`select ${columns} from ${name} searched_row where $1`, [true]);
    const codes: string[] = [];
    const codesIn = (row: string) => this.#codesIn(row);
    async function* pieces() {
      for await (const rows of query.cursor(ROWS_AT_ONCE)) {
        for (const row of rows) {
          codes.push(...codesIn(String(row.row)));
          for (const value of Object.values(row)) {
            if (value !== null) yield value instanceof Uint8Array ? value : `${value}\n`;
          }
        }
      }
    }
    const found = new Set([...(await this.#search.findIn(pieces())), ...codes]);
    return [...found].map((label) => `${name}: ${label}`);
  }

  /** The log of a server or a part of it. */
  log(name: string, text: string): string[] {
    const codes = text.split("\n").flatMap((line) => this.#codesIn(line));
    const found = new Set([...this.#search.find(Buffer.from(text)), ...codes]);
    return [...found].map((label) => `${name}: ${label}`);
  }

  /**
   * Every file below a data directory: sandboxes, media, logs, and PostgreSQL's own files.
   *
   * @param template the directory it is a copy of, whose files hold no secret: files and pages that have
   * not changed since are left out
   */
  async folder(root: string, template?: string): Promise<string[]> {
    const findings: string[] = [];
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      const name = relative(root, path);
      if (!entry.isFile() || MEANT_TO_HOLD.has(name.split("/")[0] ?? "")) continue;
      if (template !== undefined && isUnchanged(path, join(template, name))) continue;
      const original = template === undefined ? undefined : join(template, name);
      const found = await this.#search.findIn(changedPages(path, original));
      for (const label of found) findings.push(`${name}: ${label}`);
    }
    return findings;
  }

  /** Codes that stand in the clear beside the address they were sent to. */
  #codesIn(row: string): string[] {
    const digits = new Set(row.match(/(?<![\w.-])\d{6}(?![\w.-])/g));
    if (digits.size === 0) return [];
    return this.#codes
      .filter(({ code, email }) => digits.has(code) && row.includes(email))
      .map(({ email }) => `verification code of ${email}`);
  }
}

function isUnchanged(path: string, original: string): boolean {
  const now = statSync(path);
  const before = statSync(original, { throwIfNoEntry: false });
  return before?.mtimeMs === now.mtimeMs && before.size === now.size;
}

/**
 * The pages of a file that are neither empty nor as in the original, and their neighbours, into which a trace
 * may reach. Almost all of PostgreSQL's log is empty.
 */
async function* changedPages(path: string, original: string | undefined) {
  const before = original && existsSync(original) ? readFileSync(original) : Buffer.alloc(0);
  let at = 0;
  let skipped: Uint8Array | undefined;
  let hasChanged = false;
  for await (const bytes of createReadStream(path, { highWaterMark: BYTES_AT_ONCE })) {
    for (let start = 0; start < bytes.length; start += PAGE) {
      const page: Buffer = bytes.subarray(start, start + PAGE);
      const end = at + page.length;
      const follows = hasChanged;
      hasChanged = !(
        page.equals(before.subarray(at, end)) || page.equals(ZEROS.subarray(0, page.length))
      );
      at = end;
      if (hasChanged && skipped) yield skipped;
      if (hasChanged || follows) yield page;
      skipped = hasChanged || follows ? undefined : page;
    }
  }
}
