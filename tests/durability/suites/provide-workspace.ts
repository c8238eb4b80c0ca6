/** A workspace that the suites of a file use one after the other, because each would start the same servers. */
import { afterAll } from "vitest";
import { type FakeFal, startFakeFal } from "../../support/fakes/fal.ts";
import { startWorkspace, type Workspace } from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";

/** Starts the workspace when the first suite asks for it. Each starts with one server, which the one before may have left. */
export type ProvideWorkspace = () => Promise<Workspace>;

/** Is called where the suites are described, at whose end the workspace is stopped. */
export function provideWorkspace(...options: Parameters<typeof startWorkspace>): ProvideWorkspace {
  let opened: Promise<Workspace> | undefined;
  afterAll(async () => (await opened)?.stop());
  return async () => {
    opened ??= startWorkspace(...options);
    const workspace = await opened;
    await workspace.keepServers(1);
    return workspace;
  };
}

/** Returns two servers of the workspace, the older one first. */
export async function twoServers(workspace: Workspace) {
  const [one, other] = await workspace.keepServers(2);
  if (!one || !other) throw new Error("There are no two servers.");
  return [one, other] as const;
}

/** A workspace with webhooks on this machine and a vendor of pictures, whose answers no request waits for. */
export function providePaidWorkspace(world?: World) {
  let fal: FakeFal;
  afterAll(() => fal?.close());
  const provide = provideWorkspace(async () => {
    fal ??= await startFakeFal();
    const TEST_CONSTANTS = '{"CONTENT_TIMEOUT_MS":1}';
    return { ...fal.env, LOOPBACK_URLS: "media,webhooks", TEST_CONSTANTS };
  }, world);
  return { provide, fal: () => fal };
}
