/** The part of `sql.js` that is used here. The types of others lack integers of 64 bits. */
declare module "sql.js" {
  export type SqlValue = string | number | bigint | Uint8Array | null;

  export interface Statement {
    run(values: readonly (string | null)[]): void;
    bind(values: readonly string[]): boolean;
    step(): boolean;
    get(values: null, options: { useBigInt: true }): SqlValue[];
    getSQL(): string;
    getColumnNames(): string[];
    free(): boolean;
  }

  export class Database {
    constructor(bytes?: Uint8Array | null);
    run(sql: string): Database;
    prepare(sql: string): Statement;
    iterateStatements(sql: string): Iterable<Statement>;
    export(): Uint8Array;
    close(): void;
  }

  export default function initSqlJs(options: {
    instantiateWasm(
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance) => void,
    ): object;
  }): Promise<{ Database: typeof Database }>;
}
