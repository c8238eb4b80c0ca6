/** Sandboxes and renderings that a test starts itself run the programs of the build, as the servers' do. */
import { join } from "node:path";
import { inject } from "vitest";
import { setBuiltPrograms } from "../../../lib/platform/isolation/program.ts";
import { projectRoot } from "../../../scripts/project-root.ts";

// Without a server, there may be no build, or one of older sources.
if (inject("published")) setBuiltPrograms(join(projectRoot, inject("stack").distDir, "programs"));
