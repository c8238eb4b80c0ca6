import { z } from "zod";
import { type TaskRun, taskRun } from "../../task-run.ts";

const fields: Readonly<Record<string, z.ZodType>> = taskRun.shape;
const object = z.record(z.string(), z.unknown());

/**
 * Reads a run as Trigger.dev sends it. Invalid and unknown fields are left out. Returns undefined only
 * when a required field is missing: the id, the status, the tags, the task or a timestamp.
 */
export function readRun(raw: unknown): TaskRun | undefined {
  const given = object.safeParse(raw).data ?? {};
  const valid = Object.entries(given).filter(
    ([name, value]) => fields[name]?.safeParse(value).success,
  );
  return taskRun.safeParse(Object.fromEntries(valid)).data;
}
