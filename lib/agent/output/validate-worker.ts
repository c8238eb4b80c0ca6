/** The worker thread of `check-output.ts`: checks a schema, or a value against it, and posts the result. */
import { parentPort, workerData } from "node:worker_threads";
import type { OutputCheck } from "./check-output.ts";
import { faultOfDialect, validate } from "./validate-output.ts";

const { schema, submitted }: OutputCheck = workerData;
const post = (message: unknown): void => parentPort?.postMessage(message);

if (submitted === undefined) {
  const fault = faultOfDialect(schema);
  post({ isFinal: true, errors: fault === null ? [] : [fault] });
} else {
  const report = (errors: readonly string[]) => post({ isFinal: false, errors });
  const isValid = validate(schema, submitted.value, submitted.root, report);
  post({ isFinal: true, ...(isValid && { errors: [] }) });
}
