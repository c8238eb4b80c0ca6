import { type Command, required, take } from "./command.ts";
import { printRun } from "./run.ts";
import { UsageError } from "./usage-error.ts";

export const runs: Command = {
  usage: ["runs get ID", "runs stop ID"],
  about: "Wait for a run and print its answer; end a run.",
  options: {},
  async run(context) {
    const { args, client, out, signal } = context;
    const [action, id] = args;
    if (action === "get") return printRun(context, required(id, "ID"));
    if (action === "stop") {
      const run = { runId: required(id, "ID") };
      const { chatId } = await take(
        client.api.GET("/api/chat/runs/{runId}", { params: { path: run }, signal }),
      );
      const path = { chatId };
      const stopped = await take(
        client.api.POST("/api/chat/{chatId}/stop", { params: { path }, signal }),
      );
      out.result(stopped, ({ stopped: was }) => (was ? "Stopped" : "It had ended"));
      return 0;
    }
    throw new UsageError("runs takes get or stop");
  },
};
