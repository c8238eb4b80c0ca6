/** A workspace that the suites of a file use one after the other, because each would start the same servers. */
import { afterAll } from "vitest";
import type { FakeFal } from "../../support/fakes/fal.ts";
import { startWorkspace, type Workspace } from "../../support/harness/workspace.ts";

/** Starts the workspace when the first suite asks for it. Each begins with one server, which the one before may have left. */
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

/** Settings of servers with a vendor of pictures, for whose answers nobody waits, and with webhooks on this machine. */
export const paidBy = (fal: FakeFal) => ({
  ...fal.env,
  LOOPBACK_URLS: "media,webhooks",
  TEST_CONSTANTS: '{"CONTENT_TIMEOUT_MS":1}',
});
