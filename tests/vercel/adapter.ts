/**
 * An adapter of Next, as Vercel's is: records which files each function of a build consists of, and
 * how a request finds its function.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NextAdapter } from "next";

export type BuildOutput = Pick<
  Parameters<NonNullable<NextAdapter["onBuildComplete"]>>[0],
  "routing" | "outputs" | "buildId"
>;

const adapter: NextAdapter = {
  name: "record",
  async onBuildComplete({ routing, outputs, buildId, distDir }) {
    const output: BuildOutput = { routing, outputs, buildId };
    await writeFile(join(distDir, "functions.json"), JSON.stringify(output));
  },
};
export default adapter;
