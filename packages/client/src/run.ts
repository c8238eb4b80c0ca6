/** Headless runs with an output of a known type, and with tools of the client. */
import { toApiError } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import { type Run, type WaitOptions, waitForRun } from "./wait-for-run.ts";

type ToJsonSchema = (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;

/** A schema of a library that implements Standard JSON Schema, such as zod from 4.2 on. */
export interface StandardSchema<Output> {
  readonly "~standard": {
    readonly jsonSchema: { readonly input: ToJsonSchema; readonly output: ToJsonSchema };
    readonly types?: { readonly output: Output } | undefined;
  };
}

type Schema<Output> = StandardSchema<Output> | { readonly [keyword: string]: unknown };

/** A tool that `onToolCall` runs. */
export interface ClientTool {
  readonly name: string;
  /** Describes the tool and when to use it, for the agent. */
  readonly description: string;
  /** The object that the agent writes as input. */
  readonly inputSchema: Schema<unknown>;
}

export interface RunOptions<Output> extends WaitOptions {
  readonly prompt: string;
  /**
   * The schema of the run's `output`. A schema of zod also gives the output its type; for a JSON
   * Schema, the caller names the type: `client.run<Invoice>({ prompt, schema })`.
   */
  readonly schema?: Schema<Output>;
  /** Tools that the agent may call, and `onToolCall` runs. */
  readonly clientTools?: readonly ClientTool[];
  /** Further fields of the body of `POST /api/chat/runs`, such as `model`. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * Starts a run, and resolves to it as `waitForRun` does. A completed run has an `output` if there is a `schema`.
 * The request is repeated with the same idempotency key, so it starts one run.
 * @throws ApiError when the service refuses the run
 */
export async function run<Output = unknown>(
  connection: Connection,
  { prompt, schema, clientTools, more, ...wait }: RunOptions<Output>,
): Promise<Run<Output>> {
  const body = {
    ...more,
    prompt,
    ...(schema && { output_schema: toJsonSchema(schema, "output") }),
    ...(clientTools && {
      client_tools: clientTools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: toJsonSchema(inputSchema, "input"),
      })),
    }),
  };
  const request: RequestInit = {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
  };
  const signal = wait.signal ?? new AbortController().signal;
  const response = await connection.repeat("/api/chat/runs", request, signal);
  if (!response.ok) throw await toApiError(response);
  const { runId }: { runId: string } = await response.json();
  return waitForRun(connection, runId, wait);
}

function toJsonSchema(schema: object, side: "input" | "output"): object {
  const isStandard = (given: object): given is StandardSchema<unknown> =>
    "~standard" in given && typeof given["~standard"] === "object";
  if (!isStandard(schema)) return schema;
  return schema["~standard"].jsonSchema[side]({ target: "draft-2020-12" });
}
