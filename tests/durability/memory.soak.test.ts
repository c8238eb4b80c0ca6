/**
 * Thousands of turns in one server process, with uploads, searches and clients that leave: the memory that it holds
 * after a garbage collection and its descriptors stay the same after the first thousand. `SOAK_MEMORY_TURNS` changes
 * the number: 40,000 are about an hour.
 */
import { execFileSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { freePort } from "../../scripts/free-port.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startWorkspace } from "../support/harness/workspace.ts";

const TURNS = Number(process.env.SOAK_MEMORY_TURNS ?? 5_000);
const PORTIONS = 5;
const AT_ONCE = 20;
/** A leak of 5 KB a turn would exceed it. */
const MAX_GROWTH_BYTES = 20 * 1024 ** 2;
/** Descriptors of a jail that is still alive, or of a pool that has grown. */
const MAX_MORE_DESCRIPTORS = 50;

interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Has the process collect its garbage through its inspector, and reads the remaining size. */
async function measure(inspectorPort: number, pid: number): Promise<Memory> {
  const targets = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`);
  const [target] = (await targets.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  let calls = 0;
  const call = (method: string): Promise<unknown> => {
    const id = ++calls;
    const answered = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        const answer = JSON.parse(String(data));
        if (answer.id === id) resolve(answer.result);
      });
    });
    socket.send(JSON.stringify({ id, method }));
    return answered;
  };
  await call("HeapProfiler.collectGarbage");
  const { usedSize } = (await call("Runtime.getHeapUsage")) as { usedSize: number };
  socket.close();
  const rss = execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return { heapBytes: usedSize, residentBytes: Number(rss) * 1024 };
}

test(`after ${TURNS} turns a process holds no more than after ${TURNS / PORTIONS}`, async () => {
  const workspace = await startWorkspace({
    ACCOUNT_RATE_LIMIT: "0",
    ADDRESS_RATE_LIMIT: "0",
    LOG_LEVEL: "error",
  });
  await workspace.server.stop();
  const inspectorPort = await freePort();
  const inspected = { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` };
  const server = await workspace.startServer({ env: inspected });
  const caller = await workspace.createCaller(server.url);
  const measures: Memory[] = [];
  const descriptors: number[] = [];
  for (let portion = 1; portion <= PORTIONS; portion++) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const conversation = await openConversation(caller);
        const { sessionId } = conversation;
        for (let n = 0; n < TURNS / PORTIONS / AT_ONCE; n++) {
          const stream = await conversation.send("[tools:1][deltas:50]");
          if (n % 5 === 1) {
            await stream.until(({ type }) => type === "text-delta");
            stream.leave();
            await vi.waitFor(
              async () => expect((await conversation.read()).isStreaming).toBe(false),
              {
                timeout: 60_000,
              },
            );
            continue;
          }
          await stream.ended;
          expect(stream.isDone).toBe(true);
          if (n % 5 === 2) {
            const path = `/api/sandbox/files/content?sessionId=${sessionId}&path=${n % 20}.txt`;
            const init = { method: "PUT", headers: caller.headers, body: "x".repeat(100_000) };
            expect((await fetch(caller.url + path, init)).ok).toBe(true);
          }
          if (n % 5 === 3) expect((await caller.get("/api/chats?q=deltas")).status).toBe(200);
        }
      }),
    );
    const memory = await measure(inspectorPort, server.pid);
    measures.push(memory);
    descriptors.push((await readdir(`/proc/${server.pid}/fd`)).length);
    const mib = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
    const { heapBytes, residentBytes } = memory;
    const turns = (TURNS / PORTIONS) * portion;
    console.log(
      `${turns} turns: heap ${mib(heapBytes)}, resident ${mib(residentBytes)}, ${descriptors.at(-1)} descriptors`,
    );
  }
  const growth = (measures.at(-1)?.heapBytes ?? 0) - (measures[0]?.heapBytes ?? 0);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  const more = (descriptors.at(-1) ?? 0) - (descriptors[0] ?? 0);
  expect(more).toBeLessThan(MAX_MORE_DESCRIPTORS);
  await workspace.stop();
}, 7_200_000);
