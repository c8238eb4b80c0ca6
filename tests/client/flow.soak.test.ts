/** The package as npm installs it. It is a soak test because it asks the registry: `npm run soak -- tests/client`. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackedClient, type PackedClient } from "../support/harness/packed-client.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";

const run = promisify(execFile);

let packed: PackedClient;
let workspace: Workspace;
beforeAll(async () => {
  packed = await installPackedClient();
  workspace = await startWorkspace();
}, 300_000);
afterAll(async () => {
  await workspace?.stop();
  await packed?.remove();
});

describe.each(["20", "22", "24"])("an empty folder with Node %s and its types", (version) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), `client-node-${version}-`));
    await writeFile(
      join(folder, "package.json"),
      JSON.stringify({ type: "module", allowScripts: { node: true } }),
    );
    const packages = [
      packed.archive,
      `node@${version}`,
      `@types/node@${version}`,
      "typescript@5.9.3",
    ];
    await run("npm", ["install", "--no-audit", "--no-fund", ...packages], {
      cwd: folder,
    });
  }, 300_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("compiles, runs and has the command", async () => {
    await writeFile(
      join(folder, "use.ts"),
      `import { ApiError, createClient, type TurnEvent, verifyWebhook } from "agent-platform-client";
const client = createClient({ baseUrl: process.argv[2] ?? "", apiKey: process.argv[3] ?? "" });
const { data, error } = await client.api.GET("/api/models");
if (error) throw new ApiError(new Response(), error);
const first: string | undefined = data.models[0]?.id;
const texts = async (events: AsyncIterable<TurnEvent>): Promise<number> => {
  let count = 0;
  for await (const event of events) if (event.type === "chunk") count++;
  return count;
};
// @ts-expect-error the endpoint does not exist
client.api.GET("/api/nothing");
console.log(process.version, first, typeof texts, typeof verifyWebhook);
`,
    );
    const options = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023", "--strict"];
    await run("node_modules/.bin/tsc", [...options, "use.ts"], { cwd: folder });
    const node = join(folder, "node_modules/node/bin/node");
    const key = await workspace.createKey();
    const used = await run(node, ["use.js", workspace.server.url, key], { cwd: folder });
    expect(used.stdout).toMatch(new RegExp(`^v${version}\\.\\S+ \\S+ function function\\n$`));
    const command = join(folder, "node_modules/.bin/agent-platform");
    const env = { NODE_ENV: "production" as const, AGENT_PLATFORM_URL: workspace.server.url };
    const answered = await run(node, [command, "run", "count to 3"], {
      cwd: folder,
      env: { ...env, AGENT_PLATFORM_API_KEY: key },
    });
    expect(answered.stdout).toMatch(/\S/);
  });
});
