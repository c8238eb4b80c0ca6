/**
 * The conformance suite for Worlds of the Workflow SDK: call `describeWorld` in a test file with the
 * environment that selects a World.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildWorkflows } from "./build.ts";
import { output, reached, type Scenario, type Started, scenarios } from "./scenarios.ts";
import { type Env, WorldServer } from "./server.ts";

export interface TestedWorld {
  readonly name: string;
  /** Creates the storage of the World. */
  readonly prepare?: () => Promise<{ env: Env; remove(): Promise<void> }>;
  readonly env: (folder: string) => Env;
  /** Known defects of this World, by the name of the test, which then must fail. */
  readonly deviations: Readonly<Record<string, string>>;
  /** Workflows that are not run, because how they end on this World is a matter of timing. */
  readonly unsteady?: Readonly<Record<string, string>>;
}

/** Ends a hanging test; a loaded machine needs minutes for seconds of work. */
const LIMIT_MS = 600_000;

export function describeWorld({ name, prepare, env, deviations, ...world }: TestedWorld): void {
  const { unsteady = {} } = world;
  const tried = Object.entries(scenarios).filter(([title]) => !(title in unsteady));
  let built: Awaited<ReturnType<typeof buildWorkflows>>;
  beforeAll(async () => {
    built = await buildWorkflows();
  }, LIMIT_MS);
  afterAll(() => built.remove());

  describe.each([
    { pass: "undisturbed", killed: false },
    { pass: "killed", killed: true },
  ])(`${name}, $pass`, ({ pass, killed }) => {
    let server: WorldServer;
    let remove: (() => Promise<void>) | undefined;
    const runs = new Map<string, Promise<Started>>();

    beforeAll(async () => {
      const data = await prepare?.();
      remove = data?.remove;
      const settings = (folder: string) => ({ ...env(folder), ...data?.env });
      server = await WorldServer.open(built.folder, settings);
      await server.start();
      for (const [title, scenario] of tried) {
        const arriving = start(server, scenario);
        arriving.catch(() => {});
        runs.set(title, arriving);
      }
      await Promise.allSettled(runs.values());
      if (!killed) return;
      await server.kill();
      await server.start();
    }, LIMIT_MS);
    afterAll(async () => {
      await server?.stop();
      await remove?.();
    });

    for (const [title, scenario] of tried) {
      const deviates = `${title}, ${pass}` in deviations || title in deviations;
      const run = deviates ? test.concurrent.fails : test.concurrent;
      run(
        title,
        async () => {
          const started = (await runs.get(title)) as Started;
          await scenario.go?.(started);
          await server.open(started.key);
          if ("expected" in scenario) expect(await output(started)).toEqual(scenario.expected);
          await scenario.check?.(started, killed);
        },
        LIMIT_MS,
      );
    }
  });
}

/** Resolves when the run is at its step `pause`. Throws when the run fails before. */
async function start(server: WorldServer, scenario: Scenario): Promise<Started> {
  const key = randomUUID();
  const args = [key, ...(scenario.args?.(key) ?? [])];
  const runId = await server.ask<string>("start", { name: scenario.workflow, args });
  const run = { server, key, runId };
  const arrive = async () => {
    await scenario.arrive?.(run);
    await reached(run, "paused");
  };
  await Promise.race([arrive(), output(run)]);
  return run;
}
