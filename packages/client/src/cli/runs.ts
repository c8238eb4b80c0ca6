import { type Command, required, take, text } from "./command.ts";
import { columns } from "./output.ts";
import { answersOf, approvalOptions, printRun } from "./run.ts";
import { UsageError } from "./usage-error.ts";

export const runs: Command = {
  usage: ["runs list [--limit N]", "runs get [--approve KIND]... [--deny] ID", "runs cancel ID"],
  about: "The newest runs; wait for a run and print its answer; end a run.",
  options: { limit: { type: "string" }, ...approvalOptions },
  async run(context) {
    const { args, client, options, out, signal } = context;
    const [action, id] = args;
    if (action === "list") {
      const limit = text(options.limit);
      const query = limit === undefined ? {} : { limit: Number(limit) };
      const listed = await take(client.api.GET("/api/chat/runs", { params: { query }, signal }));
      out.result(listed, ({ runs: all }) =>
        columns(all.map((run) => [run.runId, run.status, run.createdAt, run.kind, run.title])),
      );
      return 0;
    }
    if (action === "get") return printRun(context, required(id, "ID"), answersOf(options));
    if (action === "cancel") {
      const path = { runId: required(id, "ID") };
      const done = await take(
        client.api.POST("/api/chat/runs/{runId}/cancel", { params: { path }, signal }),
      );
      out.result(done, ({ cancelled }) => (cancelled ? "Cancelled" : "It had ended"));
      return 0;
    }
    throw new UsageError("runs takes list, get or cancel");
  },
};
