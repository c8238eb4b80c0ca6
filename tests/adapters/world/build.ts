import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StandaloneBuilder } from "@workflow/builders";
import { projectRoot } from "../../../scripts/project-root.ts";

/** Builds the workflows of the suite with the SDK's builder, into a separate folder. */
export async function buildWorkflows(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "agent-platform-world-"));
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "package.json"), '{"name":"suite","type":"module"}');
  await symlink(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  await copyFile(join(import.meta.dirname, "app/workflows.ts"), join(folder, "src/workflows.ts"));
  await new StandaloneBuilder({
    buildTarget: "standalone",
    dirs: ["."],
    workingDir: folder,
    stepsBundlePath: join(folder, "step.cjs"),
    workflowsBundlePath: join(folder, "flow.cjs"),
    webhookBundlePath: join(folder, "webhook.cjs"),
    suppressCreateWorkflowsBundleLogs: true,
    suppressCreateWebhookBundleLogs: true,
    suppressCreateManifestLogs: true,
  }).build();
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
