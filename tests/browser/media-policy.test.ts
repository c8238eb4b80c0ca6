import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type HostedProject, startHostedProject } from "../support/harness/hosted-project.ts";
import { startServer } from "../support/harness/server.ts";
import { stack } from "../support/harness/stack.ts";

describe("from where pages may show media", () => {
  let project: HostedProject;
  let hosted: RunningNext;
  beforeAll(async () => {
    project = await startHostedProject();
    hosted = await startServer({ env: project.env });
  });
  afterAll(async () => {
    await hosted?.stop();
    await project?.close();
  });

  it("is this origin alone when the service serves its files itself", async () => {
    expect(await mediaRules(stack.url)).toEqual([
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
    ]);
  });

  it("is the origin of the Supabase project too, when that serves them", async () => {
    const { origin } = project;
    expect(await mediaRules(hosted.url)).toEqual([
      `img-src 'self' data: blob: ${origin}`,
      `media-src 'self' blob: ${origin}`,
    ]);
  });
});

async function mediaRules(url: string): Promise<string[]> {
  const { headers } = await fetch(`${url}/content`);
  const rules = (headers.get("content-security-policy") ?? "").split("; ");
  return rules.filter((rule) => /^(img|media)-src /.test(rule));
}
