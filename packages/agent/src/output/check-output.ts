/**
 * Validates schemas and values of callers. Each check has its own worker thread with a deadline and a heap
 * limit, because the time that a schema takes cannot be bounded by looking at it: with a union in a union,
 * it grows exponentially with the depth of the value.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { FairQueue } from "@platform/kit/fair-queue";
import { superviseWorker } from "@platform/kit/supervise-worker";
import { z } from "zod";
import { faultOfSchema, type JsonSchema } from "./json-schema.ts";

export type OutputCheck =
  | {
      readonly schema: JsonSchema;
      readonly submitted: {
        readonly value: unknown;
        /** The place of the value in the errors. */
        readonly root: string;
      };
    }
  /** Checks the schemas themselves. Each has one error, which is empty for none. */
  | { readonly schemas: readonly JsonSchema[] };

/** How the outputs of a run are validated. */
export interface OutputValidation {
  readonly schema: JsonSchema;
  readonly accountId: string;
  readonly queue: FairQueue;
  /** The deadline of each check. Default: 5,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
const MAX_HEAP_MIB = 128;
const MAX_OUTPUT_BYTES = 256 * 1024;

const message = z.object({ isFinal: z.boolean(), errors: z.array(z.string()).optional() });

/**
 * Returns the problem of a schema, as the end of a sentence that starts with its name; null if it has none.
 * @throws QueueRefusal when too many checks of the account are waiting
 */
export async function checkSchema({ schema, ...work }: OutputValidation): Promise<string | null> {
  const [fault] = await checkSchemas(work, [schema]);
  return fault ?? null;
}

/** Returns the problem of each schema, as `checkSchema` does. */
export async function checkSchemas(
  { queue, accountId, timeoutMs }: Omit<OutputValidation, "schema">,
  schemas: readonly JsonSchema[],
): Promise<(string | null)[]> {
  const faults = schemas.map(faultOfSchema);
  const sound = schemas.filter((_, place) => faults[place] === null);
  if (sound.length === 0) return faults;
  const errors = await queue.run(accountId, undefined, () =>
    runWorker({ schemas: sound }, timeoutMs),
  );
  let next = 0;
  return faults.map((fault) => {
    if (fault !== null) return fault;
    const error = errors?.[next++];
    if (error === undefined) return "is too complex";
    return error === "" ? null : `is not a valid JSON Schema: ${error}`;
  });
}

/**
 * Validates a value against a schema that `checkSchema` has accepted.
 * @returns the errors, none for a valid value
 * @throws QueueRefusal; the reason of `signal`
 */
export async function checkOutput(
  { queue, accountId, schema, timeoutMs }: OutputValidation,
  { value, root }: Extract<OutputCheck, { submitted: unknown }>["submitted"],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_OUTPUT_BYTES) {
    return [`The output must be at most ${MAX_OUTPUT_BYTES / 1024} kB of JSON`];
  }
  const check = { schema, submitted: { value, root } };
  const errors = await queue.run(accountId, signal, () => runWorker(check, timeoutMs, signal));
  signal.throwIfAborted();
  return errors ?? ["The output could not be validated in time. Submit a smaller one"];
}

/**
 * Resolves with the errors found until the deadline; null for none and no final answer, which
 * includes a hostile schema that has taken all memory or the whole stack.
 */
async function runWorker(
  check: OutputCheck,
  timeoutMs = TIMEOUT_MS,
  signal?: AbortSignal,
): Promise<readonly string[] | null> {
  // The bundler recognizes this form and bundles the worker too; it requires `workerData` to be an
  // object.
  const code = join(process.cwd(), "packages", "agent", "src", "output", "validate-worker.ts");
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
  await superviseWorker(worker, keep, { timeoutMs, signal });
  return found;
}
