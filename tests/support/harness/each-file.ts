/**
 * Runs before each test file. One process runs many of them to load modules once, so this undoes
 * changes that a file may leave behind.
 */
import { join } from "node:path";
import { setBuiltPrograms } from "@platform/kit/isolation/program";
import { afterEach, expect, inject, vi } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";
import { takeDifferences } from "../fakes/check-openapi.ts";
import { inherited, takeFaults } from "./observe-answers.ts";
import { servers } from "./servers.ts";

// A file may have changed settings, and values derived from them.
for (const name of Object.keys(process.env)) if (!(name in inherited)) delete process.env[name];
Object.assign(process.env, inherited);
globalThis.agentPlatform?.clear();
vi.useRealTimers();
// The port of a server that has ended may be one of a fake now.
servers.clear();
servers.add(inject("stack").url);

// Sandboxes and renderings that a test starts itself run the programs of the build, as the servers' do.
if (!inject("stack").program)
  setBuiltPrograms(join(projectRoot, inject("stack").distDir, "programs"));

afterEach(() => {
  expect(takeFaults(), "answers that are not as published").toEqual([]);
  expect(takeDifferences(), "fakes that differ from their vendors").toEqual([]);
});
