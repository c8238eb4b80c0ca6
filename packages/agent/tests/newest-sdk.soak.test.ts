/**
 * The model loop against the newest release of the AI SDK, whose internal functions it uses: says whether
 * updating it needs work. It is a soak test because it asks the registry: `npm run soak --
 * packages/agent/tests/newest-sdk.soak.test.ts`.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { projectRoot } from "../../../scripts/project-root.ts";

const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "newest-sdk-"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies: { ai: "latest" } }));
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm ? [process.execPath, npm] : ["npm"];
  const flags = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"];
  await run(command ?? "npm", [...first, "install", ...flags], { cwd: folder });
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it("streams the same as `streamText` of that release", async () => {
  const config = join(folder, "vitest.config.mjs");
  await writeFile(
    config,
    `export default {
      root: ${JSON.stringify(projectRoot)},
      resolve: { alias: { "@": ${JSON.stringify(projectRoot)} } },
      plugins: [{
        name: "newest-sdk",
        enforce: "pre",
        resolveId(id) {
          return /^ai(\\/|$)/.test(id) ? this.resolve(id, ${JSON.stringify(config)}, { skipSelf: true }) : null;
        },
      }],
      test: {
        include: ["packages/agent/tests/stream-answer.test.ts"],
        // Without it Node loads the package, from the project.
        server: { deps: { inline: ["ai"] } },
        testTimeout: 120_000,
      },
    };`,
  );
  const { version } = JSON.parse(
    await readFile(join(folder, "node_modules/ai/package.json"), "utf8"),
  );
  const vitest = join(projectRoot, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--config", config];
  const options = { cwd: projectRoot, env: { ...process.env, NO_COLOR: "1" } };
  const { stdout, stderr } = await run(process.execPath, args, options).catch(
    (failed: { stdout: string; stderr: string }) => failed,
  );
  expect(stdout, `ai ${version}: ${stdout}${stderr}`).toMatch(/Tests +\d+ passed/);
}, 300_000);
