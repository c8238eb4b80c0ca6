/** The worker thread of `check-output.ts`: checks a schema, or a value against it, and posts the result. */
import { parentPort, workerData } from "node:worker_threads";
import type { OutputCheck } from "./check-output.ts";
import { faultOfDialect, validate } from "./validate-output.ts";

const check: OutputCheck = workerData;
const post = (message: unknown): void => parentPort?.postMessage(message);

if ("schemas" in check) {
  const faults: string[] = [];
  for (const schema of check.schemas) {
    faults.push(faultOfDialect(schema) ?? "");
    post({ isFinal: faults.length === check.schemas.length, errors: faults });
  }
} else {
  const { schema, submitted } = check;
  const report = (errors: readonly string[]) => post({ isFinal: false, errors });
  const isValid = validate(schema, submitted.value, submitted.root, report);
  post({ isFinal: true, ...(isValid && { errors: [] }) });
}
