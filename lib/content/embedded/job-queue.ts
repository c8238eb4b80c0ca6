/** So many at a time, the others in the order of their coming; one that is aborted leaves the line. */
export interface JobQueue {
  /** Runs the work when its turn has come; undefined when the signal came first. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined>;
}

export function createJobQueue(atOnce: number): JobQueue {
  const line: (() => void)[] = [];
  let running = 0;

  const turn = (signal: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      if (signal.aborted) return resolve(false);
      const start = () => {
        signal.removeEventListener("abort", leave);
        running += 1;
        resolve(true);
      };
      const leave = () => {
        line.splice(line.indexOf(start), 1);
        resolve(false);
      };
      if (running < atOnce) return start();
      line.push(start);
      signal.addEventListener("abort", leave, { once: true });
    });

  return {
    async run(signal, work) {
      if (!(await turn(signal))) return undefined;
      try {
        return await work();
      } finally {
        running -= 1;
        line.shift()?.();
      }
    },
  };
}

declare global {
  // Shared by all routes, which Next may load separately.
  var agentPlatformMediaQueues:
    | { readonly renders: JobQueue; readonly probes: JobQueue }
    | undefined;
}

/** Renderings take minutes and probes moments: the one never waits for the other. */
export function mediaQueues() {
  globalThis.agentPlatformMediaQueues ??= {
    // Each takes all the processor it is given: more at once would only make each later.
    renders: createJobQueue(2),
    probes: createJobQueue(2),
  };
  return globalThis.agentPlatformMediaQueues;
}
