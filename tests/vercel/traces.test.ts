/**
 * The files that Next traces for each function of a serverless deployment, in the build under test.
 * `functions.soak.test.ts` builds for Vercel and runs the functions.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { projectRoot } from "../../scripts/project-root.ts";
import { stack } from "../support/harness/stack.ts";
import { strangeFiles } from "./strange-files.ts";

const server = join(projectRoot, stack.distDir, "server");
const trace = z.object({ files: z.array(z.string()) });

function tracedFiles(name: string): string[] {
  const file = join(server, name);
  const { files } = trace.parse(JSON.parse(readFileSync(file, "utf8")));
  return files.map((path) => relative(projectRoot, join(dirname(file), path)));
}

describe("a traced function", () => {
  const routes = globSync("app/{api,auth,connectors,.well-known}/**/route.js.nft.json", {
    cwd: server,
  });

  it("is there for every route", () => {
    expect(routes.length).toBeGreaterThan(40);
  });

  // The common content of every function.
  it.each(["instrumentation.js.nft.json", "middleware.js.nft.json", ...routes])(
    "carries no accidental files: %s",
    (name) => {
      expect(strangeFiles(tracedFiles(name))).toEqual([]);
    },
  );

  it("carries the worker that reads lengths", () => {
    const files = tracedFiles("app/api/content/video/route.js.nft.json");
    expect(files).toContainEqual(
      expect.stringMatching(/\[worker thread\]-packages_media_src_probe/),
    );
  });

  it.each(["api/chat/runs", ".well-known/workflow/v1/step"])(
    "carries the workers that validate outputs and read documents: %s",
    (route) => {
      const files = tracedFiles(`app/${route}/route.js.nft.json`);
      expect(files).toContainEqual(
        expect.stringMatching(/\[worker thread\]-packages_agent_src_output/),
      );
      expect(files).toContainEqual(expect.stringMatching(/\[worker thread\]-packages_documents/));
    },
  );
});
