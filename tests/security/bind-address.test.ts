/** Where the product listens; without HOST: `tests/adapters/supabase`. */
import { platform } from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { endCopies, listens, makeKey, newDataDir, npmRun } from "../adapters/supabase/copies.ts";

// Each starts whole copies, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 450_000, hookTimeout: 450_000 });
afterEach(endCopies);

it.runIf(platform() === "linux")(
  "HOST is the one address it listens on, and turns run there",
  async () => {
    const dataDir = newDataDir();
    const copy = await npmRun("start", dataDir, "127.0.0.2");
    const key = await makeKey(copy, dataDir);
    expect(await listens("127.0.0.2", copy.url)).toBe(true);
    expect(await listens("127.0.0.1", copy.url)).toBe(false);
    const answer = await fetch(`${copy.url}/api/chat/runs`, {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify({ prompt: "Hello" }),
    });
    const { runId } = await answer.json();
    await vi.waitFor(
      async () => {
        const run = await fetch(`${copy.url}/api/chat/runs/${runId}`, {
          headers: { "x-api-key": key },
        });
        expect((await run.json()).status).toBe("completed");
      },
      { timeout: 60_000, interval: 100 },
    );
  },
);
