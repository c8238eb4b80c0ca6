/** The queues of a process. */
import { FairQueue } from "@platform/kit/fair-queue";
import { type Config, processShare } from "./config.ts";

/** More than an account's turns and subagents make at a time, unless their limits are off. */
const MAX_WAITERS_PER_ACCOUNT = 1_000;

export type Queues = ReturnType<typeof createQueues>;

/** Creates the queues of a process. A queue that only one adapter uses is a field of that adapter. */
export function createQueues(settings: Config) {
  const { QUEUE_WAIT_MS, REQUESTS_AT_ONCE, MODEL_CALLS_AT_ONCE, RENDERS_AT_ONCE } = settings;
  const queue = (name: string, slots: number, waitersPerAccount: number, maxWaitMs: number) =>
    new FairQueue({ name, slots, waitersPerAccount, maxWaitMs });
  const renders = processShare(settings, RENDERS_AT_ONCE, 1);
  const streams = { slots: 4_000, slotsPerAccount: settings.ACCOUNT_STREAMS };
  return {
    /** The database connections of requests, which wait as long as a call of the database may take. */
    requests: queue("requests", REQUESTS_AT_ONCE, MAX_WAITERS_PER_ACCOUNT, 10_000),
    modelCalls: queue("model_calls", MODEL_CALLS_AT_ONCE, MAX_WAITERS_PER_ACCOUNT, QUEUE_WAIT_MS),
    /** No account can take all readers. A stream costs little memory and a query a second. */
    streams: new FairQueue({ name: "streams", ...streams, waitersPerAccount: 0, maxWaitMs: 0 }),
    /**
     * A rendering takes all processors for minutes, so more at a time would only delay each. More may wait
     * than `CONTENT_AT_ONCE` admits by default: an admitted run must not be refused here.
     */
    renderings: queue("renderings", renders, 200, 2 * QUEUE_WAIT_MS),
    /** Separate from renderings: a probe takes moments and must not wait for minutes. */
    probes: queue("probes", 4, 100, 60_000),
    /** Documents that the agent reads. Each may take a gigabyte of memory. */
    documents: queue("documents", 2, MAX_WAITERS_PER_ACCOUNT, 120_000),
    /** Checks of output schemas and outputs, each in its own thread. */
    outputChecks: queue("output_checks", 4, MAX_WAITERS_PER_ACCOUNT, 60_000),
    /** Bounds how many images are decoded at a time. */
    thumbnails: queue("thumbnails", 2, 100, 10_000),
    /** Bounds the memory of images of the web: each is held whole, because its size is not known before. */
    proxiedImages: queue("proxied_images", 16, 24, 10_000),
  };
}
