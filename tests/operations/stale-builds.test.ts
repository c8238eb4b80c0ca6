import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { removeStaleBuilds } from "../../scripts/stale-builds.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "stale-builds-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function makeBuild(name: string, lock: string | undefined): void {
  mkdirSync(join(root, name, "dev"), { recursive: true });
  if (lock !== undefined) writeFileSync(join(root, name, "dev", "lock"), lock);
}

it("removes the builds of development servers that no longer run, and nothing else", () => {
  const { pid: ended } = spawnSync(process.execPath, ["--version"]);
  makeBuild(".next-dev-15001", JSON.stringify({ pid: ended, port: 15001 }));
  makeBuild(".next-dev-15002", undefined);
  makeBuild(".next-dev-15003", "{");
  makeBuild(".next-dev-15004", JSON.stringify({ pid: "none" }));
  makeBuild(".next-dev-15005", JSON.stringify({ pid: process.pid }));
  makeBuild(".next-dev-3000", JSON.stringify({ pid: ended }));
  makeBuild(".next", undefined);
  removeStaleBuilds(root);
  expect(readdirSync(root).toSorted()).toEqual([".next", ".next-dev-15005", ".next-dev-3000"]);
});
