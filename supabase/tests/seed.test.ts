import { readFileSync } from "node:fs";
import type { TransactionSql } from "postgres";
import { expect, test } from "vitest";
import { rolledBack } from "./transaction.ts";

const seed = readFileSync("supabase/seed.sql", "utf8");

const templates = (transaction: TransactionSql) =>
  transaction`select * from content_templates order by position`;

const sizes = async (transaction: TransactionSql) => {
  const [row] = await transaction`
    select
      (select count(*) from catalog_artists) as artists,
      (select count(*) from catalog_albums) as albums,
      (select count(*) from catalog_album_artists) as album_artists,
      (select count(*) from catalog_tracks) as tracks,
      (select count(*) from catalog_track_artists) as track_artists,
      (select count(*) from catalog_others) as others`;
  return { ...row };
};

test("a second seed changes nothing", async () => {
  await rolledBack(async ({ sql: transaction }) => {
    const before = [await templates(transaction), await sizes(transaction)];
    await transaction.unsafe(seed).simple();
    expect([await templates(transaction), await sizes(transaction)]).toEqual(before);
  });
});

test("it creates what is missing, restores its own templates, and keeps those of others", async () => {
  await rolledBack(async ({ sql: transaction }) => {
    const before = await templates(transaction);
    expect(before.length).toBeGreaterThan(0);
    await transaction`delete from content_templates where position = 1`;
    await transaction`update content_templates set description = 'edited' where position = 2`;
    await transaction`insert into content_templates (position, id, description)
      values (1000, 'of-an-operator', 'kept')`;
    await transaction.unsafe(seed).simple();
    const after = await templates(transaction);
    expect(after.slice(0, -1)).toEqual([...before]);
    expect(after.at(-1)).toMatchObject({ id: "of-an-operator", description: "kept" });
  });
});
