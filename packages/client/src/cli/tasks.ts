import { type Command, required, take, text } from "./command.ts";
import { columns } from "./output.ts";
import { UsageError } from "./usage-error.ts";

export const tasks: Command = {
  usage: [
    "tasks list",
    'tasks create --schedule "0 9 * * MON" [--timezone ZONE] [--title TITLE] [--model ID] PROMPT',
    "tasks run ID",
    "tasks trigger ID",
    "tasks delete ID",
  ],
  about:
    "Scheduled prompts: each time of the schedule starts a run. Without --timezone it is in UTC. A trigger is a URL at which events start runs; its secret is printed once.",
  options: {
    schedule: { type: "string" },
    timezone: { type: "string" },
    title: { type: "string" },
    model: { type: "string" },
  },
  async run({ args: [action, ...rest], client: { api }, options, out, signal }) {
    const id = () => ({ path: { id: required(rest[0], "ID") } });
    switch (action) {
      case "list": {
        const listed = await take(api.GET("/api/tasks", { signal }));
        out.result(listed, ({ tasks: all }) =>
          columns(
            all.map((task) => [task.id, task.schedule, task.next_run_at ?? "disabled", task.title]),
          ),
        );
        return 0;
      }
      case "create": {
        const prompt = required(rest.join(" "), "PROMPT");
        const timezone = text(options.timezone);
        const model = text(options.model);
        const body = {
          title: text(options.title) ?? prompt.slice(0, 200),
          prompt,
          schedule: required(options.schedule, "--schedule"),
          ...(timezone === undefined ? {} : { timezone }),
          ...(model === undefined ? {} : { model }),
        };
        const made = await take(api.POST("/api/tasks", { body, signal }));
        out.result(made, ({ task }) => task.id);
        return 0;
      }
      case "run": {
        const started = await take(api.POST("/api/tasks/{id}/run", { params: id(), signal }));
        out.result(started, ({ run_id }) => run_id);
        return 0;
      }
      case "trigger": {
        const request = { params: id(), body: { kind: "webhook" as const }, signal };
        const made = await take(api.POST("/api/tasks/{id}/triggers", request));
        out.result(made, ({ url, secret }) => `${url}\n${secret}`);
        return 0;
      }
      case "delete": {
        const done = await take(api.DELETE("/api/tasks/{id}", { params: id(), signal }));
        out.result(done, () => `Deleted ${rest[0]}`);
        return 0;
      }
      default:
        throw new UsageError("tasks takes list, create, run, trigger or delete");
    }
  },
};
