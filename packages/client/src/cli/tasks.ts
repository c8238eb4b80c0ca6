import { type Command, required, take, text } from "./command.ts";
import { columns } from "./output.ts";
import { UsageError } from "./usage-error.ts";

export const tasks: Command = {
  usage: [
    "tasks list",
    'tasks create --schedule "0 9 * * MON" [--timezone ZONE] [--title TITLE] [--model ID] PROMPT',
    "tasks run ID",
    "tasks trigger ID [--connector NAME --event EVENT [--config JSON]]",
    "tasks delete ID",
  ],
  about:
    "Scheduled prompts: each time of the schedule starts a run. Without --timezone it is in UTC. A trigger is a URL at which events start runs, whose secret is printed once, or with --connector an event of a connected account.",
  options: {
    schedule: { type: "string" },
    timezone: { type: "string" },
    title: { type: "string" },
    model: { type: "string" },
    connector: { type: "string" },
    event: { type: "string" },
    config: { type: "string" },
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
        const connector = text(options.connector);
        const event = text(options.event);
        const config = jsonObject(text(options.config) ?? "{}");
        const body =
          connector === undefined
            ? { kind: "webhook" as const }
            : { kind: "connector" as const, connector, event: required(event, "--event"), config };
        const made = await take(
          api.POST("/api/tasks/{id}/triggers", { params: id(), body, signal }),
        );
        out.result(made, (one) => (one.kind === "webhook" ? `${one.url}\n${one.secret}` : one.id));
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

function jsonObject(config: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(config));
  } catch {
    throw new UsageError("--config must be JSON");
  }
}
