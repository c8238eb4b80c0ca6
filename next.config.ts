import type { NextConfig } from "next";
import { withWorkflow } from "workflow/next";

const config: NextConfig = {
  // The launcher gives each copy of the development server a folder of its own.
  distDir: process.env.NEXT_DIST_DIR ?? ".next",
  poweredByHeader: false,
  // The engine has these loaded by asking for them; in development that is often.
  logging: { incomingRequests: { ignore: [/^\/\.well-known\/workflow\//] } },
  // `npm run check` checks them, those of the tests included.
  typescript: { ignoreBuildErrors: true },
  serverExternalPackages: ["pg", "just-bash", "pino"],
};

// `next dev` starts a helper process with this same config; wrapped, the Workflow SDK would start
// its watcher in it and leave it behind.
export default process.argv[1]?.includes("detached-flush") ? config : withWorkflow(config);
