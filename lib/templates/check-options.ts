/** Checks a caller's options for an agent before they are stored. */

import { checkSchema } from "@platform/agent/output/check-output";
import type { JsonSchema } from "@platform/agent/output/json-schema";
import { type ClientTool, faultOfNames } from "@platform/agent/tools/client-tools";
import { type AppError, appError, invalidField } from "@platform/endpoint/contract/app-error";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import type { RunOptionChanges } from "@platform/endpoint/contract/run-options";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { checkModel, isKnownModel } from "../models/list-models.ts";
import type { Parts } from "../parts.ts";
import { call } from "../platform/database/query.ts";

/**
 * Checks the models and MCP servers that options name, and the schemas and patterns of an outcome. Errors: 400; 429 and 503
 * while too many checks wait.
 */
export async function checkOptions(
  app: Parts<"db" | "models" | "queues">,
  accountId: string,
  { fallback_models, outcome, mcp_servers }: RunOptionChanges,
): Promise<AppError | undefined> {
  for (const id of fallback_models || []) {
    if (await isKnownModel(app.models, id)) continue;
    return appError("invalid_request", "fallback_models must be of the available models", {
      fields: ["fallback_models"],
    });
  }
  if (mcp_servers?.length) {
    const args = { accountId, names: [...mcp_servers] };
    const [missing] = await call(app.db, "missing_mcp_servers", args);
    if (missing !== undefined) {
      return invalidField("mcp_servers", `mcp_servers: the account has no MCP server ${missing}`);
    }
  }
  if (!outcome) return undefined;
  if (outcome.model !== undefined && !(await isKnownModel(app.models, outcome.model))) {
    return appError("invalid_request", "outcome.model must be one of the available models", {
      fields: ["outcome"],
    });
  }
  for (const [place, check] of (outcome.checks ?? []).entries()) {
    const name = `outcome.checks.${place}`;
    const schema =
      check.type === "output_matches"
        ? check.schema
        : check.type === "answer_matches" && { type: "string", pattern: check.pattern };
    const fault = schema && (await checkCallersSchema(app, accountId, schema, name, "outcome"));
    if (fault) return fault;
  }
  return undefined;
}

/** Checks the options of an agent template. Errors: as `checkOptions`. */
export async function checkTemplate(
  app: Parts<"db" | "models" | "queues">,
  accountId: string,
  template: RunOptionChanges & {
    readonly model?: string | undefined;
    readonly output_schema?: JsonSchema | "" | undefined;
  },
): Promise<AppError | undefined> {
  const { model, output_schema: schema } = template;
  return (
    (await checkModel(app, model || undefined, "model")) ??
    (schema && Object.keys(schema).length > 0
      ? await checkCallersSchema(app, accountId, schema, "output_schema")
      : undefined) ??
    (await checkOptions(app, accountId, template))
  );
}

/** Checks the tools of a client. Errors: as `checkOptions`. */
export async function checkClientTools(
  app: Parts<"queues">,
  accountId: string,
  tools: readonly ClientTool[] | null | undefined,
): Promise<AppError | undefined> {
  const fields = ["client_tools"];
  const fault = faultOfNames(tools ?? []);
  if (fault) return appError("invalid_request", fault, { fields });
  for (const [place, { input_schema: schema }] of (tools ?? []).entries()) {
    const name = `client_tools.${place}.input_schema`;
    if (schema.type !== "object") {
      return appError("invalid_request", `${name} must have the type object`, { fields });
    }
    const fault = await checkCallersSchema(app, accountId, schema, name, "client_tools");
    if (fault) return fault;
  }
  return undefined;
}

/**
 * Checks a JSON Schema of a caller. Errors: as `checkOptions`.
 * @param name the name of the schema in the error
 * @param field the field of the body that contains it
 */
export async function checkCallersSchema(
  { queues }: Parts<"queues">,
  accountId: string,
  schema: JsonSchema,
  name: string,
  field = name,
): Promise<AppError | undefined> {
  try {
    const fault = await checkSchema({ queue: queues.outputChecks, accountId, schema });
    if (fault === null) return undefined;
    return appError("invalid_request", `${name} ${fault}`, { fields: [field] });
  } catch (error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    throw error;
  }
}
