import { getWritable } from "workflow";
import { getRun, start } from "workflow/api";
import type { ChunkBatch, Engine, TurnAddress, TurnLog } from "../../port.ts";
import { isStopRequested } from "./stop-flag.ts";

/** A stop that is requested in another process is found in the stored flag at this interval. */
const STOP_POLL_MS = 1_000;

/**
 * The durable engine on Vercel, where the platform stores runs, queue and streams. A write has one
 * or more chunks, one JSON text a line. Indexes count chunks, so readers start at 0 and skip.
 */
export class VercelEngine implements Engine {
  readonly name = "vercel";

  async start(): Promise<void> {}

  async startRun<Input>(workflow: (input: Input) => Promise<void>, input: Input): Promise<string> {
    return (await start(workflow, [input])).runId;
  }

  async check(): Promise<void> {}

  /** The platform executes the runs, so that a process has none to hand over. */
  async drain(): Promise<void> {}

  async openLog(_turnId: string, runId: string, fresh: boolean): Promise<TurnLog> {
    const committed = fresh ? [] : await this.#readAll(runId);
    const writer = getWritable<string>().getWriter();
    let last = Promise.resolve();
    const write = (chunks: readonly string[]) => {
      if (chunks.length === 0) return;
      last = last.then(() => writer.write(chunks.join("\n")));
      last.catch(() => {});
      committed.push(...chunks);
    };
    return {
      committed: () => committed,
      append: write,
      flushed: () => last,
      close: async (chunks) => {
        write(chunks);
        await last;
        await writer.close();
      },
    };
  }

  async *read(
    { runId }: TurnAddress,
    startIndex: number,
    signal: AbortSignal,
  ): AsyncGenerator<ChunkBatch> {
    if (runId === null || signal.aborted) return;
    const run = getRun(runId);
    if ((await run.status) !== "running" && (await run.status) !== "pending") return;
    const reader = run.getReadable<string>().getReader();
    signal.addEventListener("abort", () => void reader.cancel(), { once: true });
    let next = 0;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const chunks = value.split("\n");
      const skipped = Math.min(chunks.length, Math.max(0, startIndex - next));
      if (skipped < chunks.length)
        yield { firstIndex: next + skipped, chunks: chunks.slice(skipped) };
      next += chunks.length;
    }
  }

  async tailIndex({ runId }: TurnAddress): Promise<number> {
    return runId === null ? -1 : (await this.#readAll(runId)).length - 1;
  }

  async runState(runId: string) {
    const run = getRun(runId);
    if (!(await run.exists)) return "unknown";
    const status = await run.status;
    return status === "running" || status === "pending" ? "running" : "ended";
  }

  async signalStop(): Promise<void> {}

  onStop(turnId: string, stop: () => void): () => void {
    const timer = setInterval(async () => {
      if (await isStopRequested(turnId).catch(() => false)) stop();
    }, STOP_POLL_MS);
    return () => clearInterval(timer);
  }

  /** Returns the chunks that are in the stream now. */
  async #readAll(runId: string): Promise<string[]> {
    const stream = getRun(runId).getReadable<string>();
    const tail = await stream.getTailIndex();
    const reader = stream.getReader();
    const chunks: string[] = [];
    for (let writes = 0; writes <= tail; writes++) {
      const { value, done } = await reader.read();
      if (done) break;
      chunks.push(...value.split("\n"));
    }
    await reader.cancel();
    return chunks;
  }
}
