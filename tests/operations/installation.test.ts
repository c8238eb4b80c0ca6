import { globSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../scripts/project-root.ts";

const MAX_BYTES = 1_100_000_000;
const modules = join(projectRoot, "node_modules");

// The programs for other platforms have other sizes.
it.runIf(process.platform === "linux")("takes less than 1.1 GB", () => {
  const files = new Map<number, number>();
  // Hidden folders are caches of programs.
  for (const path of globSync("{*,.bin}/**", {
    cwd: modules,
    exclude: (name) => name === ".cache",
  })) {
    const { ino, blocks } = lstatSync(join(modules, path));
    files.set(ino, blocks * 512);
  }
  const bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeLessThan(MAX_BYTES);
  expect(bytes).toBeGreaterThan(MAX_BYTES / 2);
});

it("replaces packages by a folder of this repository, not by a package of others", () => {
  const lock = JSON.parse(readFileSync(join(projectRoot, "package-lock.json"), "utf8"));
  const replaced = Object.values<{ name?: string; resolved?: string }>(lock.packages).filter(
    ({ name }) => name?.includes("empty"),
  );
  expect(replaced.length).toBeGreaterThan(10);
  expect(new Set(replaced.map(({ resolved }) => resolved))).toEqual(
    new Set(["file:packages/empty"]),
  );
});
