import type { CommandResult } from "../../port.ts";
import type { Outcome } from "./jail.ts";

/** Returns the result of a command for its caller. @param timeoutMs the command's deadline */
export function resultOf(outcome: Outcome, timeoutMs: number): CommandResult {
  if (outcome.op === "run") {
    const { exitCode, stdout, stderr, truncated } = outcome;
    return { exitCode, stdout, stderr, truncated };
  }
  const killed = (exitCode: number, why: string) => ({
    exitCode,
    stdout: "",
    stderr: `${why}\n`,
    truncated: false,
  });
  if (outcome.op !== "ended") return killed(126, "The command could not be run");
  switch (outcome.why) {
    case "deadline":
      return killed(124, `Killed: the deadline of ${timeoutMs / 1000} s passed`);
    case "aborted":
      return killed(137, "Killed: the command was stopped");
    default:
      return killed(137, "Killed: the command used too much memory or CPU");
  }
}
