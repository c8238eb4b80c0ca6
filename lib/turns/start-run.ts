import { randomUUID } from "node:crypto";
import type { JsonSchema } from "@platform/agent/output/json-schema";
import type { ClientTool } from "@platform/agent/tools/client-tools";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import type { UntrustedSource } from "@platform/endpoint/contract/approvals";
import {
  budgetReached,
  messageQuotaExceeded,
  tooManyTurns,
} from "@platform/endpoint/contract/quota";
import { type RunOptions, runOptions } from "@platform/endpoint/contract/run-options";
import { drain } from "@platform/kit/drain";
import { count } from "@platform/kit/telemetry/metrics";
import { inSpan } from "@platform/kit/telemetry/spans";
import type { Logger } from "pino";
import { checkRecipients } from "../delivery/addresses.ts";
import type { Deliver } from "../delivery/contract.ts";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import { checkModel } from "../models/list-models.ts";
import type { Parts } from "../parts.ts";
import { clearSandbox } from "../sandbox/destroy-sandbox.ts";
import { provisionSandbox } from "../sandbox/provision-sandbox.ts";
import { checkCallersSchema, checkClientTools, checkOptions } from "../templates/check-options.ts";
import { checkEndpoint } from "../webhooks/check-endpoint.ts";
import type { ChatEntry } from "./contract.ts";
import { readConversation, titleOf } from "./read-messages.ts";
import { runCredentialForm } from "./start-turn.ts";
import { draining, startWorkflow } from "./start-workflow.ts";
import { runKey } from "./store/claims.ts";
import { assignRun, discardRun, type ProvisionedRun, provisionRun } from "./store/runs.ts";

export interface RunRequest extends RunOptions {
  readonly caller: Caller;
  /** Requests with the same id get the same run, even if a crash interrupted one of them. */
  readonly effectId: string;
  /** Default: `headless`. */
  readonly kind?: "headless" | "task";
  readonly given: { readonly prompt: string } | { readonly messages: readonly ChatEntry[] };
  /** The pipeline has checked the caller's access to it. */
  readonly artistId?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly instructions?: string | null | undefined;
  /** An agent template that instructs the agent, after which come the `instructions`. */
  readonly template_id?: string | null | undefined;
  /** By default an own template is followed, and another one has the version accepted or used last. */
  readonly template_version?: number | null | undefined;
  /** Connectors that the run may use. */
  readonly connectors?: readonly string[] | null | undefined;
  /** The schema of the run's output. */
  readonly output_schema?: JsonSchema | null | undefined;
  /** The tools that the client runs. */
  readonly client_tools?: readonly ClientTool[] | null | undefined;
  /** The recipients of the result. */
  readonly deliver?: Deliver | null | undefined;
  /** The words of strangers in `given`. */
  readonly untrusted?: readonly UntrustedSource[];
  /** Notified of the end of the run, in addition to the webhooks of the account. */
  readonly webhook_url?: string | null | undefined;
  readonly log: Logger;
}

/** The parts of the service that the start of a run uses. */
export type RunParts = Parts<"db" | "engine" | "models" | "queues" | "sandboxes">;

export interface StartedRun {
  readonly runId: string;
  readonly chatId: string;
  readonly sessionId: string;
}

/** Returns the response to a run that has started: the URL to poll for its end, and the time of the first poll. */
export const startedAnswer = (body: StartedRun) => ({
  status: 202 as const,
  body,
  headers: { location: `/api/chat/runs/${body.runId}`, "retry-after": "1" },
});

const deleted = appError("conflict", "The session was deleted before the run started");
const refusals = {
  budget_reached: budgetReached,
  chat: deleted,
  messages_full: messageQuotaExceeded,
  session: deleted,
  template: appError("not_found", "Template not found"),
  template_version: appError("not_found", "Template version not found"),
  too_many_turns: tooManyTurns,
};
/** The firing of a task is tried again with the version that the task keeps now. */
const versionChanged = appError("conflict", "Another version of the template was just accepted");

/**
 * Provisions a session, a chat and a sandbox, and starts a run in them. A run that cannot be
 * started leaves nothing behind. Errors: 400 for invalid messages, an unknown model, an unsuitable
 * `output_schema`, `outcome` or tool, a recipient that may not get the result, or a private `webhook_url`, 429 for too many active turns, 404 for a template or
 * a version that the caller does not see, 503 while this process drains, 502 `Failed to provision sandbox`.
 */
export async function startRun(app: RunParts, request: RunRequest): Promise<StartedRun | AppError> {
  const { caller, effectId, kind = "headless", given, webhook_url, log } = request;
  const { artistId = null, model = null } = request;
  if (drain().hasBegun) return draining;
  const messages = await readConversation(given);
  if (isAppError(messages)) return messages;
  // The fallbacks of a task were checked when they were chosen. Without one that is gone, it still runs.
  const fault =
    (await checkModel(app, model, "model")) ??
    (kind === "task" ? undefined : await checkOptions(app, caller.accountId, request));
  if (fault) return fault;
  // The recipients of a task were checked when it was changed, and all are checked again when the mail is sent.
  const recipientFault =
    kind === "task" ? undefined : await checkRecipients(app.db, caller.accountId, request.deliver);
  if (recipientFault) return recipientFault;
  const urlFault = webhook_url ? checkEndpoint("webhook_url", webhook_url) : undefined;
  if (urlFault) return urlFault;
  const { output_schema: schema, client_tools: tools } = request;
  const schemaFault =
    (schema && (await checkCallersSchema(app, caller.accountId, schema, "output_schema"))) ??
    (await checkClientTools(app, caller.accountId, tools));
  if (schemaFault) return schemaFault;

  const turnId = randomUUID();
  const run = await inSpan("turn.claim", { attributes: { "app.turn.id": turnId } }, () =>
    provisionRun(app.db, {
      accountId: caller.accountId,
      artistId,
      effectId,
      turnId,
      assistantMessageId: randomUUID(),
      title: titleOf(messages),
      modelId: model ?? app.models.defaultModelId,
      messages,
      key: runKey(turnId, runCredentialForm(caller)),
      kind,
      callerKeyId: keyIdOf(caller),
      setup: {
        output_schema: schema,
        client_tools: tools,
        webhook_url,
        deliver: request.deliver,
        untrusted: request.untrusted,
        connectors: request.connectors,
        instructions: request.instructions,
        template_id: request.template_id,
        template_version: request.template_version,
        accepts_version: kind !== "task",
        options: runOptions.parse(request),
        default_model_id: model === null ? app.models.defaultModelId : null,
      },
    }),
  );
  if ("refused" in run) {
    const isStale = run.refused === "template_version" && kind === "task";
    return isStale ? versionChanged : refusals[run.refused];
  }
  if (run.runId !== null) return started(run, run.runId);

  let result: StartedRun | AppError | undefined;
  try {
    result = await startIn(app, run, request);
    return result;
  } finally {
    if (result === undefined || isAppError(result)) await discard(app, run, log);
  }
}

async function startIn(
  app: RunParts,
  run: ProvisionedRun,
  request: RunRequest,
): Promise<StartedRun | AppError> {
  const { sessionId, turnId } = run;
  const { caller, kind = "headless", log } = request;
  const { accountId } = caller;
  const sandbox = await provisionSandbox(app, { accountId, sessionId, log });
  if (isAppError(sandbox)) return sandbox.code === "not_found" ? deleted : sandbox;
  const runId = await startWorkflow(app, turnId, runCredentialForm(caller));
  const assigned = await assignRun(app.db, turnId, runId);
  if (assigned === null) return deleted;
  // Another attempt at the same effect may have assigned its run first.
  if (assigned === runId) count("agent_platform.turns.started", 1, { kind });
  return started(run, assigned);
}

const started = ({ chatId, sessionId }: ProvisionedRun, runId: string): StartedRun => ({
  runId,
  chatId,
  sessionId,
});

/** Never throws, because the caller has another failure to report. */
async function discard(app: RunParts, run: ProvisionedRun, log: Logger): Promise<void> {
  const { turnId, sessionId } = run;
  try {
    // A run that has started nevertheless keeps its session; it ends on its own.
    if (await discardRun(app.db, turnId)) await clearSandbox(app, sessionId, log);
  } catch (error) {
    log.error({ err: error, sessionId }, "an unstarted run could not be discarded");
  }
}
