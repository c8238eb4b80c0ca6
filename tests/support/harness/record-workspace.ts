/** Records the examples of workspaces. */
import type { Context } from "./example-recorder.ts";

export async function recordWorkspace({ record }: Context): Promise<void> {
  const path = "contracts/harbor.md";
  const text = "Velvet Harbor pays an advance of 20,000 EUR.\n";
  await record("writeWorkspaceFile", { query: { path }, body: "Draft\n" });
  await record(
    "writeWorkspaceFile",
    { query: { path, expected_version: "1" }, body: text },
    {
      name: "a new version",
    },
  );
  await record("listWorkspaceFiles", { query: { prefix: "contracts/", limit: "10" } });
  await record("readWorkspaceFile", { query: { path } });
  await record("searchWorkspace", { query: { q: "advance" } });
  await record("listWorkspaceVersions", { query: { path, limit: "10" } });
  await record("restoreWorkspaceFile", { body: { path, version: 1 } });
  await record("deleteWorkspaceFile", { query: { path } });
}
