import { z } from "zod";
import { type TaskRun, taskRun } from "../../task-run.ts";

const fields: Readonly<Record<string, z.ZodType>> = taskRun.shape;
const object = z.record(z.string(), z.unknown());

/**
 * A run as Trigger.dev sends it, with the fields of the specification. What is not as expected is
 * left out: of a run a field, and the run itself (undefined) only when it cannot be told which it
 * is, whose, in what state or of when.
 */
export function readRun(raw: unknown): TaskRun | undefined {
  const given = object.safeParse(raw).data ?? {};
  const good = Object.entries(given).filter(
    ([name, value]) => fields[name]?.safeParse(value).success,
  );
  return taskRun.safeParse(Object.fromEntries(good)).data;
}
