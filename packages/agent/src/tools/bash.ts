import { z } from "zod";
import { COMMAND_DEADLINE_MS, MAX_OUTPUT_CHARS, MAX_PATH_CHARS } from "./limits.ts";
import { agentTool } from "./tool.ts";

export const bash = agentTool({
  name: "bash",
  description: `Run a shell command in the session's sandbox and get its exit code, stdout and stderr.
- Files persist between commands and turns; environment variables and the working directory do not.
- A command ends after ${COMMAND_DEADLINE_MS / 1000} seconds (exit code 124). There is no terminal: never start something that waits for input.
- Use python3 or sqlite3 for calculations and tables, decimal for money. In Python expect no network, subprocesses or threads, and about 250 MB of memory: read large files row by row.
- At most ${MAX_OUTPUT_CHARS} characters each of stdout and stderr are kept, and truncated says when there was more: filter with head, tail or grep. Of a long output you see head and tail, with the file that has all of it.
- To read, change, find or search files prefer the tools read, edit, write, glob and grep.
- This service: curl -H "$AGENT_API_AUTH_HEADER" "$AGENT_API_URL/api/…". It acts for the user while this run goes on: it reads their data, makes media and private templates, and can do nothing else. Never print the header line. If the user has named connectors, GET …/api/connectors/{connector}/actions lists what these can do, and POST …/actions/{action} with {"input": {…}} does it: with the tool fetch, because the user may have to approve it.`,
  input: z.object({
    command: z.string().min(1).describe("The command, for bash"),
    cwd: z
      .string()
      .min(1)
      .max(MAX_PATH_CHARS)
      .optional()
      .describe(
        "Working directory, absolute or relative to the sandbox's home, which is the default",
      ),
  }),
  async execute({ command, cwd }, context) {
    const { exitCode, stdout, stderr, truncated } = await context.sandbox.run(command, {
      ...(cwd === undefined ? {} : { cwd }),
      env: context.env,
      timeoutMs: COMMAND_DEADLINE_MS,
      maxOutputChars: MAX_OUTPUT_CHARS,
      signal: context.signal,
      onOutput: context.onOutput,
    });
    return { exitCode, stdout, stderr, truncated };
  },
});
