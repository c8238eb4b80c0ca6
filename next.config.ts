import type { NextConfig } from "next";
import { withWorkflow } from "workflow/next";

const excluded = { browser: "./app/(console)/_build/excluded-modules.ts" };

/** Files that the server reads by their paths: the built-in skills, the fonts of written PDF documents, and the character maps of read ones. */
const READ_FILES = [
  "./packages/skills/built-in/**",
  "./node_modules/dejavu-fonts-ttf/ttf/DejaVuSans{Condensed*,Mono}.ttf",
  "./node_modules/pdfjs-dist/cmaps/*.bcmap",
];

/**
 * Libraries that a server loads from `node_modules`, so a build and `npm run dev` need not compile them. Vercel's
 * functions have them in their bundles: they start often, and few files load faster than many.
 */
const EXTERNAL_LIBRARIES = [
  "@ai-sdk/provider",
  "@e965/xlsx",
  "@kenjiuno/msgreader",
  "@modelcontextprotocol/client",
  "@opentelemetry/api",
  "@supabase/supabase-js",
  "@trigger.dev/sdk",
  "ai",
  "ajv",
  "ajv-formats",
  "csv-parse",
  "dingbat-to-unicode",
  "fflate",
  "htmlparser2",
  "image-size",
  "jose",
  "mediabunny",
  "nodemailer",
  "postal-mime",
  "undici",
  "unpdf",
  "yaml",
  "zod",
  "zod-openapi",
];

const config: NextConfig = {
  // The launcher gives each copy of the development server its own folder.
  distDir: process.env.NEXT_DIST_DIR ?? ".next",
  // `npm run package` takes the traced files. Vercel traces each function by itself.
  ...(process.env.VERCEL ? {} : { output: "standalone" as const }),
  poweredByHeader: false,
  // It would redirect unknown paths of the API, too. A page's trailing slash is removed in `proxy.ts`.
  skipTrailingSlashRedirect: true,
  // Outside the pages, a path with a trailing slash is an unknown path. The proxy cannot tell: the
  // development server removes the slash before it compares the path with the proxy's matchers.
  rewrites: async () => ({
    beforeFiles: [
      {
        source: "/:path((?:api|auth|connectors/consent|\\.well-known)(?:/.*)?)/",
        destination: "/api/unknown",
      },
      // No page uses Next's image optimizer, which would let anyone convert images here and would keep the
      // results after the originals are deleted.
      { source: "/_next/image", destination: "/api/unknown" },
    ],
    // A file of the build that does not exist: no page may answer for it, as the proxy does not see these paths.
    afterFiles: [{ source: "/_next/:path*", destination: "/api/unknown" }],
    fallback: [],
  }),
  headers: async () => [
    { source: "/:path*", headers: [{ key: "x-content-type-options", value: "nosniff" }] },
    // Pages have their own policy, in `lib/http/guard-page.ts`.
    {
      source: "/(api|auth)/:path*",
      headers: [{ key: "referrer-policy", value: "no-referrer" }],
    },
  ],
  images: { unoptimized: true },
  // A page comes with its title, for every client. Next.js would send the title later, and read the one of the
  // page before aloud to screen readers.
  htmlLimitedBots: /.*/,
  // It would lie over the account in the console's corner.
  devIndicators: false,
  // Those of the API are in the service's own log. The engine has its own loaded by asking for them; in
  // development that is often.
  logging: { incomingRequests: { ignore: [/^\/api\//, /^\/\.well-known\/workflow\//] } },
  // `npm run check` checks them, those of the tests included.
  typescript: { ignoreBuildErrors: true },
  experimental: {
    // A process loads a route when it is first asked for: loading all of them takes a quarter of a second of
    // CPU and 35 MB, of which most processes use little.
    preloadEntriesOnStart: false,
    // What it keeps on disk between starts can be broken by a start that was killed: the next one panics.
    turbopackFileSystemCacheForDev: false,
    // It would write 200 MB that few later builds read.
    turbopackFileSystemCacheForBuild: false,
    // Node reads them only with an option that no server here has.
    turbopackSourceMaps: process.env.NODE_ENV !== "production",
    // It answers any request with `rsc: 1`, those of the API too, with a redirect that saves shared
    // caches from mixing up pages; no page of ours may be cached.
    validateRSCRequestHeaders: false,
  },
  turbopack: {
    rules: {
      // The console shows documents of this repository.
      "*.md": { type: "text" },
      // It draws logos in the text's color.
      "**/connectors/_logos/*.svg": { type: "text" },
    },
    // Only what the AI SDK's chat never uses in a browser: servers get the real ones.
    resolveAlias: {
      "@ai-sdk/gateway": excluded,
      "zod/v4": excluded,
      "zod/v4/core": excluded,
      "zod/v4/mini": excluded,
      "zod/v4/locales/en.js": excluded,
    },
  },
  outputFileTracingIncludes: {
    "/api/**": READ_FILES,
    "/.well-known/workflow/**": READ_FILES,
    "/api/artists/example": ["./lib/workspace/example/**"],
  },
  serverExternalPackages: [
    ...(process.env.VERCEL ? [] : EXTERNAL_LIBRARIES),
    "pg",
    "just-bash",
    // It requires its standard fonts by paths beside its own file.
    "pdfkit",
    "pino",
    "@opentelemetry/context-async-hooks",
    "@opentelemetry/exporter-metrics-otlp-http",
    "@opentelemetry/exporter-metrics-otlp-proto",
    "@opentelemetry/exporter-trace-otlp-http",
    "@opentelemetry/exporter-trace-otlp-proto",
    "@opentelemetry/resources",
    "@opentelemetry/sdk-metrics",
    "@opentelemetry/sdk-trace",
  ],
};

/** Leaves the settings as they were: the SDK would select its local World, and the engine with it. */
function withWorkflowOnly(wrapped: NextConfig): ReturnType<typeof withWorkflow> {
  const { WORKFLOW_TARGET_WORLD, WORKFLOW_LOCAL_DATA_DIR } = process.env;
  const configured = withWorkflow(wrapped);
  if (WORKFLOW_TARGET_WORLD === undefined) {
    delete process.env.WORKFLOW_TARGET_WORLD;
    if (WORKFLOW_LOCAL_DATA_DIR === undefined) delete process.env.WORKFLOW_LOCAL_DATA_DIR;
    else process.env.WORKFLOW_LOCAL_DATA_DIR = WORKFLOW_LOCAL_DATA_DIR;
  }
  return configured;
}

// `next dev` starts a helper process with this same config; wrapped, the Workflow SDK would start
// its watcher in it and leave it behind.
export default process.argv[1]?.includes("detached-flush") ? config : withWorkflowOnly(config);
