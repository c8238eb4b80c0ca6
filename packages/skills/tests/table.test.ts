import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";

it("has the same reader of tables in every skill that reads one", () => {
  const folder = join(projectRoot, "packages/skills/built-in");
  const copies = globSync("*/scripts/table.py", { cwd: folder });
  expect(copies.length).toBeGreaterThan(1);
  expect(new Set(copies.map((copy) => readFileSync(join(folder, copy), "utf8"))).size).toBe(1);
});
