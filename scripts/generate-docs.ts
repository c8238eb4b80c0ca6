/**
 * Program: writes the documents that are made from the code. It fails when one was out of date, so the
 * committed files always match the code.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { withMigrations } from "./docs/describe-deployment.ts";
import { withEffects } from "./docs/describe-effects.ts";
import { describeEnvironment, describeSettings } from "./docs/describe-settings.ts";

const read = (name: string) => readFileSync(resolve(import.meta.dirname, "..", name), "utf8");

const documents = {
  "docs/settings.md": describeSettings(),
  ".env.example": describeEnvironment(),
  "docs/deploy.md": withMigrations(read("docs/deploy.md")),
  "docs/guides/approvals.md": withEffects(read("docs/guides/approvals.md")),
};

for (const [name, text] of Object.entries(documents)) {
  const file = resolve(import.meta.dirname, "..", name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  writeFileSync(file, text);
  console.error(`${name} was out of date and has been written again: commit it.`);
  process.exitCode = 1;
}
