import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { startServer } from "../support/harness/server.ts";
import { setting, stack } from "../support/harness/stack.ts";

describe("from where pages may show media", () => {
  let hosted: RunningNext;
  beforeAll(async () => {
    hosted = await startServer({ env: { EMBEDDED_SUPABASE: "false" } });
  });
  afterAll(() => hosted?.stop());

  it("is this origin alone when the service serves its files itself", async () => {
    expect(await mediaRules(stack.url)).toEqual([
      "img-src 'self' data: blob:",
      "media-src 'self' blob:",
    ]);
  });

  it("is the origin of the Supabase project too, when that serves them", async () => {
    const { origin } = new URL(setting("SUPABASE_URL"));
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
