/**
 * The workflows that the conformance suite runs on every World. The first five come from the
 * Workflow SDK's testing package. Each workflow has a step `pause` at which the suite may kill the
 * process, and records the effects of its steps in a file named by `key`.
 */
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import {
  createHook,
  createWebhook,
  FatalError,
  getStepMetadata,
  getWritable,
  RetryableError,
  sleep,
} from "workflow";

const fileOf = (key: string, kind: "effects" | "go") => `${process.env.NOTES_DIR}/${key}.${kind}`;

async function note(key: string, effect: string): Promise<void> {
  "use step";
  appendFileSync(fileOf(key, "effects"), `${effect}\n`);
}

/** Ends when the suite has created the file. Its attempts are cut by the suite. */
async function pause(key: string): Promise<void> {
  "use step";
  appendFileSync(fileOf(key, "effects"), "paused\n");
  while (!existsSync(fileOf(key, "go"))) await delay(20);
}

async function add(a: number, b: number): Promise<number> {
  "use step";
  return a + b;
}

export async function addition(key: string, a: number, b: number) {
  "use workflow";
  const half = await add(a, b);
  await pause(key);
  return add(half, 0);
}

async function number(key: string, value: number): Promise<number> {
  "use step";
  appendFileSync(fileOf(key, "effects"), `${value}\n`);
  return value;
}

/** More steps at once than a page of events or a pool of connections holds. */
export async function manySteps(key: string, count: number) {
  "use workflow";
  const values = Array.from({ length: count }, (_, index) => index);
  const numbers = await Promise.all(values.map((value) => number(key, value)));
  await pause(key);
  return numbers;
}

interface Payload {
  readonly data: string;
  readonly done?: boolean;
}

export async function collect(key: string, token: string, metadata: string) {
  "use workflow";
  const hook = createHook<Payload>({ token, metadata: { custom: metadata } });
  await note(key, "hook");
  const collected: Payload[] = [];
  for await (const payload of hook) {
    collected.push(payload);
    if (payload.done) break;
    if (collected.length === 1) await pause(key);
    await note(key, payload.data);
  }
  return collected;
}

/** The first attempt asks for a later one, which must not run early, whatever happens in between. */
async function retried(key: string) {
  "use step";
  const { attempt } = getStepMetadata();
  appendFileSync(fileOf(key, "effects"), `attempt ${Date.now()}\n`);
  if (attempt === 1) throw new RetryableError("not yet", { retryAfter: "3s" });
  return attempt;
}
retried.maxRetries = 10;

async function fatal(key: string) {
  "use step";
  appendFileSync(fileOf(key, "effects"), "fatal\n");
  throw new FatalError("never again");
}

async function exhausted(key: string) {
  "use step";
  appendFileSync(fileOf(key, "effects"), "exhausted\n");
  throw new Error("no luck");
}
exhausted.maxRetries = 1;

export async function errors(key: string) {
  "use workflow";
  const message = (step: Promise<unknown>) =>
    step.then(
      () => "none",
      (error: unknown) => (error as Error).message,
    );
  const fatalMessage = await message(fatal(key));
  const [, retries, exhaustedMessage] = await Promise.all([
    pause(key),
    retried(key),
    message(exhausted(key)),
  ]);
  return { fatalMessage, exhaustedMessage, retried: retries > 1 };
}

async function returnNullByte() {
  "use step";
  return "null byte \0";
}

async function throwNullByte() {
  "use step";
  throw new FatalError("null byte \0");
}

export async function nullBytes(key: string) {
  "use workflow";
  const result = await returnNullByte();
  const failed = await throwNullByte().catch(() => true);
  await pause(key);
  return { result, failed };
}

async function now(): Promise<number> {
  "use step";
  return Date.now();
}

export async function sleeps(key: string) {
  "use workflow";
  const started = await now();
  await Promise.all([sleep("4s"), pause(key)]);
  return (await now()) - started;
}

/** A wait longer than any test: the suite wakes it. */
export async function sleepsForLong(key: string) {
  "use workflow";
  await pause(key);
  await sleep("60d");
  return "woken";
}

async function after(value: string, key: string) {
  "use step";
  while (!existsSync(fileOf(key, "go"))) await delay(20);
  return value;
}

/** The order in which steps end decides what happens next, and must be the same in every replay. */
export async function races(key: string) {
  "use workflow";
  const slow = [after("slow", key), pause(key).then(() => "paused")];
  const first = await Promise.race([...slow, add(1, 1)]);
  const nested = await add(Number(first), 1);
  const rest = await Promise.all(slow);
  return { first, nested, rest };
}

async function write(from: number, to: number, last: boolean) {
  "use step";
  const writable = getWritable<number>();
  const writer = writable.getWriter();
  for (let index = from; index < to; index++) await writer.write(index);
  writer.releaseLock();
  if (last) await writable.close();
}

export async function streams(key: string) {
  "use workflow";
  await write(0, 20, false);
  await pause(key);
  await write(20, 40, true);
}

export async function isCancelled(key: string) {
  "use workflow";
  await pause(key);
  await note(key, "after");
}

async function large(size: number) {
  "use step";
  return "x".repeat(size);
}

async function lengthOf(text: string) {
  "use step";
  return text.length;
}

export async function largePayloads(key: string, text: string) {
  "use workflow";
  const result = await large(text.length);
  await pause(key);
  return { length: await lengthOf(text), result };
}

export async function webhook(key: string) {
  "use workflow";
  const hook = createWebhook();
  await note(key, hook.token);
  const request = await hook;
  const text = await request.text();
  await pause(key);
  return { method: request.method, text };
}

/** Each needs one more replay; only failed deliveries may count against a run. */
export async function manyReplays(key: string, count: number) {
  "use workflow";
  for (let index = 0; index < count; index++) {
    const hook = createHook({ token: `${key} ${index}` });
    if (await hook.getConflict()) return "conflict";
    hook.dispose();
  }
  await pause(key);
  return count;
}
