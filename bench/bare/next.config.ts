import type { NextConfig } from "next";

/**
 * The baseline of the benches: plain route handlers, built and served like the product. Built by
 * webpack, because Turbopack takes the product's proxy.ts for this application's.
 */
const config: NextConfig = {
  outputFileTracingRoot: process.cwd(),
  typescript: { ignoreBuildErrors: true },
};

export default config;
