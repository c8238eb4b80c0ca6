/** Runs the input of `sqlite3`: SQL, and commands that start with a dot. */
import { Readable } from "node:stream";
import { parse } from "csv-parse";
import type { Database, SqlValue, Statement } from "sql.js";
import type { Watchdog } from "../deadlines.ts";
import { type Format, formatRows, MODES } from "./sqlite-format.ts";
import type { OutputBuffer } from "./streams.ts";

/** Ends the command with a message. */
export class SqliteError extends Error {}

export class SqliteShell {
  readonly #database: Database;
  readonly #stdout: OutputBuffer;
  readonly #readFile: (path: string) => Uint8Array;
  readonly #format: Format;
  readonly #watchdog: Watchdog;
  #ended = false;

  constructor(
    database: Database,
    format: Format,
    stdout: OutputBuffer,
    readFile: (path: string) => Uint8Array,
    watchdog: Watchdog,
  ) {
    this.#watchdog = watchdog;
    this.#database = database;
    this.#format = format;
    this.#stdout = stdout;
    this.#readFile = readFile;
  }

  /** A command with a dot takes the rest of its line, where a statement could start. */
  async run(input: string): Promise<void> {
    let sql = "";
    for (const line of input.split(/(?<=\n)/)) {
      if (this.#ended) return;
      if (line.startsWith(".") && /^\s*$|;\s*$/.test(sql)) {
        this.#watchdog(() => this.#query(sql));
        sql = "";
        await this.#command(wordsOf(line));
      } else sql += line;
    }
    if (!this.#ended) this.#watchdog(() => this.#query(sql));
  }

  #query(sql: string): void {
    if (sql.trim() === "") return;
    for (const statement of this.#database.iterateStatements(sql)) {
      const [, other] = OTHER_DATABASE.exec(statement.getSQL()) ?? [];
      if (other) throw new SqliteError(`${other} is not supported: only one database can be open`);
      const columns = statement.getColumnNames();
      for (const text of formatRows(columns, rowsOf(statement), this.#format)) {
        this.#stdout.write(Buffer.from(text));
      }
    }
  }

  async #command([name = "", ...args]: readonly string[]): Promise<void> {
    const [first = ""] = args;
    const format = this.#format;
    if (/^\.(exit|quit)$/.test(name)) this.#ended = true;
    else if (/^\.headers?$/.test(name)) format.header = /^(on|yes|1|true)$/.test(first);
    else if (name === ".separator") format.separator = unescaped(first);
    else if (name === ".nullvalue") format.nullValue = first;
    else if (name === ".mode" && isMode(first)) format.mode = first;
    else if (name === ".tables") this.#print(TABLES, first);
    else if (name === ".schema") this.#print(SCHEMA, first);
    else if (name === ".read") await this.run(Buffer.from(this.#readFile(first)).toString());
    else if (name === ".import") await this.#import(args);
    else
      throw new SqliteError(`unknown command or invalid arguments: "${[name, ...args].join(" ")}"`);
  }

  #print(sql: string, pattern: string): void {
    const statement = this.#database.prepare(sql);
    try {
      statement.bind([pattern || "%"]);
      for (const [text] of rowsOf(statement)) this.#stdout.write(Buffer.from(`${text}\n`));
    } finally {
      statement.free();
    }
  }

  /** Makes the table, with the columns of the first line, if there is none. */
  async #import(args: readonly string[]): Promise<void> {
    const { csv, skip, path, table } = importOf(args);
    const delimiter = csv || this.#format.mode === "csv" ? "," : this.#separator();
    const records = Readable.from(piecesOf(this.#readFile(path))).pipe(
      parse({ delimiter, from: skip + 1, relax_column_count: true, bom: true }),
    );
    const target = quoted(table);
    let insert: Statement | undefined;
    let width = 0;
    this.#database.run("SAVEPOINT import");
    try {
      for await (const record of records as AsyncIterable<string[]>) {
        if (!insert) {
          const isNew = this.#columnsOf(table) === 0;
          if (isNew) {
            const columns = record.map((name) => `${quoted(name)} TEXT`);
            this.#database.run(`CREATE TABLE ${target} (${columns.join(", ")})`);
          }
          width = this.#columnsOf(table);
          const places = Array.from({ length: width }, () => "?");
          insert = this.#database.prepare(`INSERT INTO ${target} VALUES (${places.join(", ")})`);
          if (isNew) continue;
        }
        insert.run(Array.from({ length: width }, (_, n) => record[n] ?? null));
      }
      insert?.free();
      this.#database.run("RELEASE import");
    } catch (error) {
      insert?.free();
      this.#database.run("ROLLBACK TO import; RELEASE import");
      throw error;
    }
  }

  #separator(): string {
    return this.#format.mode === "tabs" ? "\t" : this.#format.separator;
  }

  #columnsOf(table: string): number {
    const statement = this.#database.prepare("SELECT count(*) FROM pragma_table_info(?)");
    try {
      statement.bind([table]);
      const [row] = rowsOf(statement);
      return Number(row?.[0]);
    } finally {
      statement.free();
    }
  }
}

export const isMode = (name: string): boolean => (MODES as readonly string[]).includes(name);

const TABLES = `SELECT name FROM sqlite_schema
  WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' AND name LIKE ? ORDER BY name`;
const SCHEMA = "SELECT sql || ';' FROM sqlite_schema WHERE sql NOT NULL AND tbl_name LIKE ?";
/** Statements with a file besides the database, which would be in memory and lost. */
const OTHER_DATABASE = /^(?:\s|--[^\n]*\n|\/\*(?:(?!\*\/).)*\*\/)*(ATTACH|VACUUM\b.*\bINTO)\b/is;
const PIECE_BYTES = 64 * 1024;

function* rowsOf(statement: Statement): Generator<SqlValue[]> {
  while (statement.step()) yield statement.get(null, { useBigInt: true });
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES);
  }
}

function importOf(args: readonly string[]) {
  const names: string[] = [];
  let csv = false;
  let skip = 0;
  for (let n = 0; n < args.length; n++) {
    const arg = args[n] ?? "";
    if (arg === "--csv") csv = true;
    else if (arg === "--skip") skip = Number(args[++n]);
    else names.push(arg);
  }
  const [path, table] = names;
  if (!path || !table || !Number.isSafeInteger(skip)) {
    throw new SqliteError("usage: .import [--csv] [--skip N] FILE TABLE");
  }
  return { csv, skip, path, table };
}

/** Splits the words of a line, which may be quoted. */
const wordsOf = (line: string): string[] =>
  Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g), ([, double, single, bare]) =>
    double === undefined ? (single ?? bare ?? "") : unescaped(double),
  );

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, letter: string) => ({ t: "\t", n: "\n" })[letter] ?? letter);

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
