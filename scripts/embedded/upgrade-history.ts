import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReservedSql } from "postgres";
import { describeSchema } from "./describe-schema.ts";
import type { Migration } from "./list-migrations.ts";

const BASELINE = "20261124000000";
/** The history that can be upgraded: the digest of the versions of its migrations. */
const UPGRADABLE = {
  newest: "20261122000343",
  digest: "6a6540bf8667056a4854c18bb09b0888b64e745f49bf6d14b332b228787e113a",
};
/** Parts of the baseline that replace their old definitions: functions, triggers and comments. */
const REPLACED =
  /^(?:create function|create trigger|comment on)\b(?:--.*|'(?:[^']|'')*'|\$\$[\s\S]*?\$\$|[^;'$-]|-(?!-))*;/gm;

/** Returns whether these are the migrations of an installation that the baseline can replace. */
export const isUpgradable = (versions: readonly string[]): boolean =>
  createHash("sha256")
    .update([...versions].sort().join())
    .digest("hex") === UPGRADABLE.digest;

/** Returns the baseline if it is pending in a database that has other migrations. */
export function replacedByBaseline(
  pending: readonly Migration[],
  recorded: readonly string[],
): Migration | undefined {
  if (recorded.length === 0) return undefined;
  return pending.find(({ version }) => version === BASELINE);
}

/**
 * Turns an installation of the last version before the baseline into one of the baseline. Its data stays.
 * The caller runs it in a transaction, and records the baseline in place of the old migrations.
 *
 * @throws Error if the database has another history, or is not equal to the baseline in the end
 */
export async function upgradeToBaseline(
  connection: ReservedSql,
  folder: string,
  baseline: Migration,
  recorded: readonly string[],
): Promise<void> {
  if (!isUpgradable(recorded)) {
    throw new Error(
      `the database has migrations up to ${[...recorded].sort().at(-1)}, and only one with exactly those ` +
        `up to ${UPGRADABLE.newest} can be upgraded; update it to the release that has these, ` +
        "or restore a backup of that release",
    );
  }
  const text = readFileSync(join(folder, "migrations", baseline.file), "utf8");
  const types = text.match(/^create type [^;]*;/gm) ?? [];
  const tables = readFileSync(join(folder, `upgrade-${UPGRADABLE.newest}.sql`), "utf8");
  await connection.unsafe([...types, tables].join("\n")).simple();
  const replaced = (text.match(REPLACED) ?? []).join("\n");
  await connection
    .unsafe(replaced.replace(/^create function/gm, "create or replace function"))
    .simple();

  const upgraded = new Set(await describeSchema(connection));
  const expected = new Set(await describeAlone(connection, text));
  const differences = [
    ...[...upgraded].filter((line) => !expected.has(line)).map((line) => `has "${line}"`),
    ...[...expected].filter((line) => !upgraded.has(line)).map((line) => `lacks "${line}"`),
  ];
  if (differences.length > 0) {
    throw new Error(
      `the schema differs from the expected one in ${differences.length} places: it ${differences[0]}; ` +
        "undo what was changed besides the migrations, and try again",
    );
  }
}

/** Describes the schema that the text creates, and leaves the database as it is. */
async function describeAlone(connection: ReservedSql, text: string): Promise<string[]> {
  await connection`savepoint alone`;
  await connection
    .unsafe("alter schema public rename to upgraded; alter schema engine rename to upgraded_engine")
    .simple();
  await connection.unsafe("create schema public").simple();
  await connection.unsafe(text).simple();
  const lines = await describeSchema(connection);
  await connection`rollback to savepoint alone`;
  return lines;
}
