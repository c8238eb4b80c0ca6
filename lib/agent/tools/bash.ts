import { z } from "zod";
import { COMMAND_DEADLINE_MS, MAX_OUTPUT_CHARS, MAX_PATH_CHARS } from "./limits.ts";
import { agentTool } from "./tool.ts";

export const bash = agentTool({
  name: "bash",
  description: `Run a shell command in the session's sandbox and get its exit code, stdout and stderr.
- The sandbox's files persist between commands and turns; environment variables and the working directory do not.
- A command ends after ${COMMAND_DEADLINE_MS / 1000} seconds (exit code 124). There is no terminal: never start something that waits for input.
- python3 with its standard library and the sqlite3 command are there for calculations and tables. Use decimal for money. Expect no network, subprocesses, threads or packages in Python, and about 250 MB of memory: read large files row by row.
- stdout and stderr are each cut at ${MAX_OUTPUT_CHARS} characters, and "truncated" says so: filter with head, tail or grep.
- To read, write, find or search files prefer the tools read, write, glob and grep.
- To call this service, use the base address in $AGENT_API_URL and the header line in $AGENT_API_AUTH_HEADER: curl -H "$AGENT_API_AUTH_HEADER" "$AGENT_API_URL/api/...". It acts for the user while this run goes on: it reads their data, makes media and private templates, and can do nothing else. If the user has named connectors for it, GET "$AGENT_API_URL/api/connectors/{connector}/actions" lists what these can do, and POST …/actions/{action} with {"input": {…}} does it: make this request with the tool fetch, because the user may have to approve it. Never print the header line.`,
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
