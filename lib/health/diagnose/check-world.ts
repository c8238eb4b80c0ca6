import { createRequire } from "node:module";
import type { Config } from "../../platform/config.ts";
import { runtimePath } from "../../platform/runtime-path.ts";
import { type Finding, misconfigured } from "./finding.ts";

/** Worlds that come with the Workflow SDK. */
const INCLUDED = new Set(["local", "vercel"]);

/**
 * The SDK imports the World as soon as it is imported itself, and fails without it. Vercel's is part of
 * the build.
 */
export function checkWorld({ WORKFLOW_TARGET_WORLD: world, VERCEL }: Config): Finding[] {
  if (world === undefined || INCLUDED.has(world) || VERCEL) return [];
  try {
    createRequire(runtimePath(process.cwd(), "package.json")).resolve(world);
    return [];
  } catch {
    return [
      misconfigured("settings", {
        detail: "the package that WORKFLOW_TARGET_WORLD names is not installed",
        remedy: "Install it with npm, or correct WORKFLOW_TARGET_WORLD.",
        settings: ["WORKFLOW_TARGET_WORLD"],
      }),
    ];
  }
}
