/**
 * The required behavior of a World for each workflow of the suite, undisturbed and when its process
 * is killed.
 */
import { expect, vi } from "vitest";
import type { WorldServer } from "./server.ts";

export interface Started {
  readonly server: WorldServer;
  /** Under which the workflow notes its effects. */
  readonly key: string;
  readonly runId: string;
}

export interface Scenario {
  readonly workflow: string;
  /** Arguments after the key. */
  readonly args?: (key: string) => readonly unknown[];
  /** Brings the run to its step `pause`. */
  readonly arrive?: (run: Started) => Promise<void>;
  /** Runs while the step pauses; in one of the passes, after the kill. */
  readonly go?: (run: Started) => Promise<void>;
  /** The expected output of a completed run. */
  readonly expected?: unknown;
  readonly check?: (run: Started, killed: boolean) => Promise<void>;
}

const STEPS = 110;
/** More than the SDK gives a message that fails. */
const REPLAYS = 50;
const LARGE = 10 * 1024 * 1024;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

const countOf = async ({ server, key }: Started, effect: string): Promise<number> =>
  (await server.effects(key)).filter((line) => line === effect).length;

/** Waits in hooks of the suite, too, where `expect.poll` does not. */
const until = <T>(read: () => Promise<T>, assertion: (value: T) => void): Promise<void> =>
  vi.waitFor(async () => assertion(await read()), { timeout: 600_000, interval: 50 });

/** Resolves when a step of the run has noted this. */
export const reached = (run: Started, effect: string): Promise<void> =>
  until(
    () => countOf(run, effect),
    (count) => expect(count).toBeGreaterThan(0),
  );

export const output = ({ server, runId }: Started): Promise<unknown> =>
  server.ask("output", { runId });

export const scenarios: Readonly<Record<string, Scenario>> = {
  "an addition": { workflow: "addition", args: () => [1, 2], expected: 3 },

  "110 steps at once": {
    workflow: "manySteps",
    args: () => [STEPS],
    expected: numbers(STEPS),
    check: async (run) => {
      const effects = (await run.server.effects(run.key)).filter((line) => line !== "paused");
      expect(effects.sort()).toEqual(numbers(STEPS).map(String).sort());
    },
  },

  "a hook with three payloads": {
    workflow: "collect",
    args: (key) => [`token ${key}`, `custom ${key}`],
    arrive: async (run) => {
      await reached(run, "hook");
      const token = `token ${run.key}`;
      const payload = { data: "first" };
      expect(await run.server.ask("resume", { token, payload })).toEqual({
        custom: `custom ${run.key}`,
      });
    },
    go: async ({ server, key }) => {
      const token = `token ${key}`;
      await server.ask("resume", { token, payload: { data: "second" } });
      await server.ask("resume", { token, payload: { data: "third", done: true } });
    },
    expected: [{ data: "first" }, { data: "second" }, { data: "third", done: true }],
    check: async (run) => {
      expect(await run.server.effects(run.key)).toContain("second");
      await expect(run.server.world("hooks", "getByToken", `token ${run.key}`)).rejects.toThrow(
        "HookNotFoundError",
      );
    },
  },

  "retries and fatal errors": {
    workflow: "errors",
    expected: {
      fatalMessage: "never again",
      // A process that dies in the last attempt leaves the SDK nothing but the number of attempts.
      exhaustedMessage: expect.stringMatching(/no luck|exceeded max retries/),
      retried: true,
    },
    check: async (run, killed) => {
      const attempts = (await run.server.effects(run.key))
        .filter((line) => line.startsWith("attempt "))
        .map((line) => Number(line.split(" ")[1]));
      // The process may have died before the first attempt was recorded as failed.
      if (!killed) expect(attempts).toHaveLength(2);
      expect(Math.max(...attempts) - Math.min(...attempts)).toBeGreaterThanOrEqual(3_000);
      expect(await countOf(run, "fatal")).toBe(1);
      if (killed) return;
      expect(await countOf(run, "exhausted")).toBe(2);
      expect(await output(run)).toMatchObject({
        exhaustedMessage: expect.stringContaining("no luck"),
      });
    },
  },

  "null bytes": { workflow: "nullBytes", expected: { result: "null byte \0", failed: true } },

  "a sleep": {
    workflow: "sleeps",
    check: async (run) => expect(await output(run)).toBeGreaterThanOrEqual(4_000),
  },

  "a sleep of months that is ended": {
    workflow: "sleepsForLong",
    go: async ({ server, key, runId }) => {
      await server.open(key);
      const waits = async () => {
        const { data } = await server.world<{ data: { eventType: string }[] }>("events", "list", {
          runId,
          pagination: { limit: 1_000 },
        });
        return data.map(({ eventType }) => eventType);
      };
      await until(waits, (types) => expect(types).toContain("wait_created"));
      await server.ask("wake", { runId });
    },
    expected: "woken",
  },

  "a race of parallel steps": {
    workflow: "races",
    expected: { first: 2, nested: 3, rest: ["slow", "paused"] },
  },

  "a stream": {
    workflow: "streams",
    check: async ({ server, runId }) => {
      const read = async (startIndex: number) => {
        const answer = await fetch(`${server.url}/stream/${runId}?startIndex=${startIndex}`);
        return (await answer.text()).split("\n").filter(Boolean).map(Number);
      };
      expect(await read(0)).toEqual(numbers(40));
      expect(await read(25)).toEqual(numbers(40).slice(25));
      expect(await read(-3)).toEqual([37, 38, 39]);
    },
  },

  "a cancellation": {
    workflow: "isCancelled",
    go: async ({ server, runId }) => void (await server.ask("cancel", { runId })),
    check: async (run) => {
      const { server, runId } = run;
      expect(await server.ask("status", { runId })).toBe("cancelled");
      // When a later run has ended, the effects of the step that was running are complete.
      const key = `${run.key}-later`;
      await server.open(key);
      const later = await server.ask<string>("start", { name: "addition", args: [key, 1, 1] });
      expect(await output({ server, key, runId: later })).toBe(2);
      expect(await server.effects(run.key)).not.toContain("after");
      expect(await server.ask("status", { runId })).toBe("cancelled");
    },
  },

  "payloads of 10 MB": {
    workflow: "largePayloads",
    args: () => ["x".repeat(LARGE)],
    check: async (run) => {
      const result = (await output(run)) as { length: number; result: string };
      expect([result.length, result.result.length]).toEqual([LARGE, LARGE]);
    },
  },

  "a webhook": {
    workflow: "webhook",
    arrive: async ({ server, key }) => {
      const token = async () => (await server.effects(key))[0];
      await until(token, (text) => expect(text).toBeDefined());
      const url = `${server.url}/.well-known/workflow/v1/webhook/${await token()}`;
      expect((await fetch(url, { method: "PUT", body: "sent" })).status).toBe(202);
    },
    expected: { method: "PUT", text: "sent" },
  },

  "50 replays in a row": {
    workflow: "manyReplays",
    args: () => [REPLAYS],
    expected: REPLAYS,
  },
};
