/** The options of a run. Chats, agent templates, scheduled prompts and turns store them as one object. */

import { networkPolicy, networkPolicyChange } from "@platform/kit/network-policy";
import { z } from "zod";
import { approvalPolicies } from "./approvals.ts";
import { check } from "./checks.ts";
import { withoutTags } from "./fields.ts";

const MAX_FALLBACK_MODELS = 3;
const MAX_LOADED_SKILLS = 5;
const MAX_MCP_SERVERS = 10;

/** The names of the agent's tools. */
export const AGENT_TOOLS = [
  "bash",
  "read",
  "write",
  "edit",
  "grep",
  "glob",
  "todo",
  "task",
  "ask_user_question",
  "skill",
  "fetch",
  "web_search",
  "schedule",
  "list_schedules",
  "make_media",
] as const;

/** The name of a skill, as defined by the Agent Skills format. */
export const skillName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, {
    error: "The name of a skill has lowercase letters, digits, and single hyphens between them",
  });
/** The name of an MCP server, which is a part of the names of its tools. */
export const mcpServerName = z
  .string()
  .max(32)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, {
    error: "name must have lowercase letters, digits, and single hyphens between them",
  });
const MAX_CHECKS = 20;
const MAX_RUBRIC_CHARS = 10_000;
const MAX_ITERATIONS = 5;
const DEFAULT_ITERATIONS = 3;
/** It is part of each chat that a list has. */
const MAX_OUTCOME_CHARS = 32_768;

const outcome = z
  .object({
    checks: z.array(check).min(1).max(MAX_CHECKS).optional().meta({
      description: "Conditions that are checked without a model, before the rubric",
    }),
    rubric: withoutTags(z.string().trim().min(1).max(MAX_RUBRIC_CHARS)).optional().meta({
      description: "What a separate model call judges the answer and the files by",
    }),
    max_iterations: z.int().min(1).max(MAX_ITERATIONS).default(DEFAULT_ITERATIONS).meta({
      description:
        "How often the work is judged. The agent continues after each verdict but the last",
    }),
    model: z.string().trim().min(1).max(200).optional().meta({
      description: "The `id` of the model that judges; the run's own when absent",
    }),
  })
  .refine(({ checks, rubric }) => checks !== undefined || rubric !== undefined, {
    error: "outcome must have checks or a rubric",
  })
  .refine((value) => JSON.stringify(value).length <= MAX_OUTCOME_CHARS, {
    error: `outcome must be at most ${MAX_OUTCOME_CHARS} characters of JSON`,
  });
export type Outcome = z.output<typeof outcome>;

/** The limits of a turn. Each is optional. */
const limits = z.strictObject({
  max_cost_usd: z.number().positive().max(10_000).optional().meta({
    description:
      "The cost of its model calls in USD. Its last call may exceed it. Models without a price need `allow_unpriced_models` of the account.",
  }),
  max_steps: z.int().positive().max(10_000).optional().meta({
    description: "Its model calls with the tools between them, without summaries.",
  }),
  max_duration_s: z.int().positive().max(604_800).optional().meta({
    description:
      "Seconds since its start. A model call or a tool that runs at that time is not interrupted.",
  }),
});
export const limitNames = ["max_cost_usd", "max_steps", "max_duration_s"] as const;

/** A list without repetitions. */
const distinct = <S extends z.ZodType<string>>(item: S, max: number) =>
  z
    .array(item)
    .max(max)
    .overwrite((names) => [...new Set(names)]);

const option = <S extends z.ZodType>(schema: S, description: string) =>
  schema.optional().meta({ description });

/** The options as they are given at the start and stored. An option that is not set is absent. */
export const runOptions = z.object({
  fallback_models: option(
    z.array(z.string().trim().min(1).max(200)).max(MAX_FALLBACK_MODELS),
    "The `id`s of models in `GET /api/models` that are called, in this order, while the model is overloaded, rate limited, unreachable, not available or fails. An empty list is none; when absent, the service's own list applies.",
  ),
  effort: option(
    z.enum(["low", "medium", "high"]),
    "How long a reasoning model thinks; the model's own default when absent.",
  ),
  workspace: option(
    z.enum(["write", "read", "off"]),
    "How turns use the workspace of the session: `write` stores the changes of its files (the default), `read` does not, and `off` leaves out the files and the memory.",
  ),
  outcome: option(
    outcome,
    "What the work must be. When the agent has finished, it is checked and judged, and the agent continues with what is missing. Each verdict is a part `data-outcome` of the answer.",
  ),
  skills: option(
    distinct(skillName, MAX_LOADED_SKILLS),
    "Names of skills that the agent follows from the start, in this order. Their instructions are part of its own.",
  ),
  web_search: option(
    z.boolean(),
    "Whether the agent may search the web, with the tool `web_search`. Each search counts in the usage at the vendor's price.",
  ),
  scheduling: option(
    z.boolean(),
    "Whether the agent may create tasks of the account, with the tool `schedule`, and list them with `list_schedules`. Each creation is asked for unless `approvals.schedules` says otherwise. A run of a task has no tool `schedule`.",
  ),
  media_tools: option(
    z.boolean(),
    "Whether the agent has the tool `make_media`, which generates an image or a video and stores it in the sandbox. It costs the same as `POST /api/content/image` and `POST /api/content/video`.",
  ),
  approvals: option(
    approvalPolicies,
    "For each kind of effect whether the agent acts by itself (`auto`), asks (`ask`), asks once its context has content of a stranger (`ask_when_untrusted`), or must not (`deny`). By default `connectors`, `mcp` and `schedules` are `ask`, `fetch` is `ask_when_untrusted` in chats with connectors or MCP servers, and everything else is `auto`. The choices of a chat come before those of its template and of the account; a template of another account only tightens them.",
  ),
  network: option(
    networkPolicy,
    "Which hosts the agent may reach with `fetch`, with commands and for the files of messages, and which of them web search shows. The service's own API stays reachable. Where several policies apply, such as the account's and a chat's, all must allow a host.",
  ),
  mcp_servers: option(
    distinct(mcpServerName, MAX_MCP_SERVERS),
    "Names of MCP servers of the account whose tools the agent can call. An agent template of another account cannot name any.",
  ),
  limits: option(
    limits,
    "The limits of a turn with its subagents and summaries. They are checked before each model call. A turn that reaches a limit fails with an error such as `limit_reached: max_cost_usd`, and keeps its answer until then. Where several limits apply, such as a template's and a chat's, the narrowest does.",
  ),
  tools: option(
    distinct(z.enum(AGENT_TOOLS), AGENT_TOOLS.length),
    "Names of the agent's tools that it may use, and no others; all when absent. Tools of clients and of MCP servers are not affected.",
  ),
  temperature: option(
    z.number().min(0).max(2),
    "How random the answers of the model are, from 0 to 2; the model's own default when absent. Some models accept none.",
  ),
  max_output_tokens: option(
    z.int().min(1).max(1_000_000),
    "The tokens of an answer of the model, at which the answer ends; the model's own limit when absent.",
  ),
});
export type RunOptions = z.output<typeof runOptions>;

const { shape } = runOptions;

/** The options that a message names for its turn, in place of the chat's. */
export const turnOptions = runOptions
  .omit({ outcome: true, tools: true, temperature: true, max_output_tokens: true })
  .extend({
    model: option(
      z.string().trim().min(1).max(200),
      "The `id` of a model in `GET /api/models`; the chat's when absent",
    ),
    limits: shape.limits.meta({
      description: `${shape.limits.meta()?.description} A limit that is not named is the chat's.`,
    }),
    approvals: shape.approvals.meta({
      description:
        "For each kind of effect whether the agent acts by itself (`auto`), asks (`ask`), asks once its context has content of a stranger (`ask_when_untrusted`), or must not (`deny`). Of each kind the stricter choice of the chat and the message applies.",
    }),
    network: shape.network.meta({
      description:
        "Which hosts the agent may reach, in addition to the policies of the chat and the account: all must allow a host.",
    }),
    mcp_servers: shape.mcp_servers.meta({
      description:
        "Names of MCP servers of the account whose tools the agent can call; an empty list is none.",
    }),
  });
export type TurnOptions = z.output<typeof turnOptions>;

/** The schema of the output of a run. */
export const outputSchema = z.record(z.string(), z.unknown()).meta({
  description:
    "A JSON Schema (2020-12) of the run's `output`, at most 64 kB and 20 levels deep. References may point to its own subschemas only. `pattern` has the syntax of RE2, which has no lookaround and no backreferences. The agent submits the output with the tool `submit_output` and corrects it up to three times; the run fails with an `error` that starts with `output_invalid:` if it submits none that is valid.",
});

/** Returns the change of an option: another value, or a text that removes it. @param error for anything else */
export const removable = <S extends z.ZodType>(given: z.ZodOptional<S>, error: string) =>
  changed(given, z.union([given.unwrap(), z.literal("")], { error }));

/** @param schema of a change, where it is not a value or an empty text */
const changed = <S extends z.ZodType>(given: z.ZodType, schema: S) =>
  option(schema, `${given.meta()?.description} An empty text removes it.`);

/** Returns the change of an object: it is replaced as a whole, and an empty one removes it. */
const replaced = <S extends z.ZodType>(given: z.ZodOptional<S>) =>
  given.meta({ description: `${given.meta()?.description} An empty object removes them.` });

/** The options as a change names them. */
export const runOptionChanges = runOptions.extend({
  fallback_models: removable(
    shape.fallback_models,
    `fallback_models must be a list of at most ${MAX_FALLBACK_MODELS} ids of models`,
  ),
  effort: changed(shape.effort, z.enum([...shape.effort.unwrap().options, ""])),
  workspace: changed(shape.workspace, z.enum([...shape.workspace.unwrap().options, ""])),
  outcome: removable(shape.outcome, "outcome must have checks or a rubric"),
  skills: removable(
    shape.skills,
    `skills must be a list of at most ${MAX_LOADED_SKILLS} names of skills`,
  ),
  approvals: replaced(shape.approvals),
  network: changed(shape.network, networkPolicyChange),
  mcp_servers: removable(
    shape.mcp_servers,
    `mcp_servers must be a list of at most ${MAX_MCP_SERVERS} names of MCP servers`,
  ),
  limits: replaced(shape.limits),
  tools: removable(shape.tools, "tools must be a list of names of the agent's tools"),
  temperature: removable(shape.temperature, "temperature must be a number from 0 to 2"),
  max_output_tokens: removable(
    shape.max_output_tokens,
    "max_output_tokens must be a whole number from 1 to 1,000,000",
  ),
});
export type RunOptionChanges = z.output<typeof runOptionChanges>;

const isRemoved = (value: unknown): boolean =>
  value === "" ||
  (typeof value === "object" && !Array.isArray(value) && Object.keys(value ?? {}).length === 0);

/**
 * Returns the options that a body names as the database takes them, where null removes one.
 * @param changes the schema of the options; by default, the options that all of them share
 */
export const optionsIn = (body: RunOptionChanges, changes: z.ZodObject = runOptionChanges) =>
  Object.fromEntries(
    Object.entries(changes.parse(body)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, isRemoved(value) ? null : value]],
    ),
  );
