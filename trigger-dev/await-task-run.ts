/**
 * The work of the tasks at Trigger.dev: they ask the service, which has the state, the budget and the
 * promise of one run for each task. A task that is delivered twice, or repeated, asks again and changes
 * nothing.
 */
import { AbortTaskRunError } from "@trigger.dev/sdk";
import { z } from "zod";

/** The service as a task reaches it. */
export interface Service {
  /** The `PUBLIC_URL` of the service. */
  readonly url: string;
  /** The `CRON_SECRET` of the service. */
  readonly secret: string;
}

/** All data of a task that Trigger.dev receives. */
export interface TaskPayload {
  readonly taskRunId: string;
}

/** The service answers at once; the work that it starts continues there. */
const TIMEOUT_MS = 60_000;
const PAUSE_SECONDS = 10;

const answer = z.object({
  task_run: z.object({ status: z.string(), finished_at: z.string().nullable() }),
});

/**
 * Has the service do the work of a task run, and returns when it has ended.
 * @param pause waits for so many seconds
 * @throws AbortTaskRunError, which is not retried, when the run is gone or has not ended well; Error when
 *   the service does not answer
 */
export async function awaitTaskRun(
  service: Service,
  { taskRunId }: TaskPayload,
  pause: (seconds: number) => Promise<unknown>,
): Promise<{ status: string }> {
  for (;;) {
    const response = await callService(service, "POST", `/api/cron/task-runs/${taskRunId}`);
    if (response.status === 404) throw new AbortTaskRunError("The task run was deleted");
    const { status, finished_at } = answer.parse(await bodyOf(response)).task_run;
    if (status === "COMPLETED") return { status };
    if (finished_at !== null) throw new AbortTaskRunError(`The task run ended as ${status}`);
    await pause(PAUSE_SECONDS);
  }
}

/** Has the service fire the scheduled prompts that are due. @throws Error when it does not answer */
export async function fireScheduledPrompts(service: Service): Promise<void> {
  await bodyOf(await callService(service, "GET", "/api/cron/tasks"));
}

const callService = (
  { url, secret }: Service,
  method: "GET" | "POST",
  path: string,
): Promise<Response> =>
  fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${secret}` },
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });

async function bodyOf(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`The service answered ${response.status}`);
  return response.json();
}
