/**
 * Validates schemas and values of callers. Each check has its own worker thread with a deadline and a heap
 * limit, because the time that a schema takes cannot be bounded by looking at it: with a union in a union,
 * it grows exponentially with the depth of the value.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import type { FairQueue } from "../../platform/fair-queue.ts";
import { superviseWorker } from "../../platform/supervise-worker.ts";
import { faultOfSchema, type JsonSchema } from "./json-schema.ts";

export interface OutputCheck {
  readonly schema: JsonSchema;
  /** Absent to check the schema itself. */
  readonly submitted?: {
    readonly value: unknown;
    /** The place of the value in the errors. */
    readonly root: string;
  };
}

/** How the outputs of a run are validated. */
export interface OutputValidation {
  readonly schema: JsonSchema;
  readonly accountId: string;
  readonly queue: FairQueue;
}

const TIMEOUT_MS = 5_000;
const MAX_HEAP_MIB = 128;
const MAX_OUTPUT_BYTES = 256 * 1024;

const message = z.object({ isFinal: z.boolean(), errors: z.array(z.string()).optional() });

/**
 * Returns the problem of a schema, as the end of a sentence that starts with its name; null if it has none.
 * @throws QueueRefusal when too many checks of the account are waiting
 */
export async function checkSchema({
  queue,
  accountId,
  schema,
}: OutputValidation): Promise<string | null> {
  const fault = faultOfSchema(schema);
  if (fault !== null) return fault;
  const errors = await queue.run(accountId, undefined, () => runWorker({ schema }));
  if (errors === null) return "is too complex";
  return errors.length === 0 ? null : `is not a valid JSON Schema: ${errors.join(", ")}`;
}

/**
 * Validates a value against a schema that `checkSchema` has accepted.
 * @returns the errors, none for a valid value
 * @throws QueueRefusal; the reason of `signal`
 */
export async function checkOutput(
  { queue, accountId, schema }: OutputValidation,
  { value, root }: NonNullable<OutputCheck["submitted"]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_OUTPUT_BYTES) {
    return [`The output must be at most ${MAX_OUTPUT_BYTES / 1024} kB of JSON`];
  }
  const check = { schema, submitted: { value, root } };
  const errors = await queue.run(accountId, signal, () => runWorker(check, signal));
  signal.throwIfAborted();
  return errors ?? ["The output could not be validated in time. Submit a smaller one"];
}

/**
 * Resolves with the errors that were found until the deadline; null for none and no final answer, also when a
 * hostile schema has taken all memory or the whole stack.
 */
async function runWorker(
  check: OutputCheck,
  signal?: AbortSignal,
): Promise<readonly string[] | null> {
  // The bundler recognizes this form and bundles the worker too; it requires `workerData` to be an
  // object.
  const code = join(process.cwd(), "lib", "agent", "output", "validate-worker.ts");
  const worker = new Worker(code, {
    workerData: { ...check },
    env: {},
    execArgv: ["--no-warnings"],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  let found: readonly string[] | null = null;
  const keep = (given: unknown) => {
    const { isFinal, errors } = message.parse(given);
    found = errors ?? found;
    return isFinal;
  };
  await superviseWorker(worker, keep, { timeoutMs: TIMEOUT_MS, signal });
  return found;
}
