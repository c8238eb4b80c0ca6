/** Videos and images over HTTP, and the task runs behind them. */
import { expect } from "vitest";
import { z } from "zod";
import { VIDEO_MODES } from "../../lib/content/provider.ts";
import type { TaskRun } from "../../lib/tasks/task-run.ts";
import type { Answer, Client } from "./clients.ts";
import { runsIn } from "./task-runs.ts";

const video = z.strictObject({ videoUrl: z.url(), mode: z.enum(VIDEO_MODES) });
const images = z.strictObject({ imageUrl: z.url(), images: z.array(z.url()) });

/** The body of an answer that has exactly the shape of the specification. */
export const videoIn = (answer: Answer) => succeed(answer, video);
export const imagesIn = (answer: Answer) => succeed(answer, images);

function succeed<S extends z.ZodType>(answer: Answer, schema: S): z.output<S> {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return schema.parse(answer.body);
}

/** The run that an answer names. */
export async function runOf(caller: Client, answer: Answer): Promise<TaskRun> {
  const location = answer.headers.get("location");
  expect(location).toMatch(/^\/api\/tasks\/runs\?runId=run_[0-9a-f]{24}$/);
  const [run] = runsIn(await caller.get(location ?? ""));
  return run ?? expect.unreachable();
}

/** The account's only run, as soon as it has ended. */
export async function onlyEnd(caller: Client): Promise<TaskRun> {
  await expect
    .poll(async () => runsIn(await caller.get("/api/tasks/runs")).map(({ status }) => status), {
      timeout: 50_000,
      interval: 100,
    })
    .toEqual([expect.stringMatching(/^(COMPLETED|FAILED|CRASHED)$/)]);
  const [{ id }] = runsIn(await caller.get("/api/tasks/runs")) as [TaskRun];
  return runsIn(await caller.get(`/api/tasks/runs?runId=${id}`))[0] ?? expect.unreachable();
}

export async function download(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return Buffer.from(await response.arrayBuffer());
}
