/** The environment of the tools of a turn. */

import { modelsOf } from "@platform/agent/models/model-outages";
import type { ToolCall } from "@platform/agent/step-result";
import { writeSkill } from "@platform/agent/tools/skill";
import type { JudgedRequest, ToolContext } from "@platform/agent/tools/tool";
import type { UntrustedSource } from "@platform/endpoint/contract/approvals";
import { log } from "@platform/kit/log";
import type { TurnPolicies } from "@platform/kit/network-policy";
import { MAX_PIXELS, shrinkForModel } from "@platform/media/shrink-image";
import { isSandboxError } from "@platform/sandbox/port";
import { decisionOn } from "../approvals/effects.ts";
import { APPROVED_CALL, markOf } from "../identity/keys/approved-call.ts";
import {
  findRunCredential,
  type RunCredentialForm,
  runCredentialHeader,
} from "../identity/keys/derive-run-credential.ts";
import { acceptsInput } from "../models/list-models.ts";
import { findOrganizationOfRun } from "../organizations/store.ts";
import type { Parts } from "../parts.ts";
import { canReachWeb } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { ActiveTurn } from "../running-turn/state.ts";
import { openSandbox } from "../running-turn/turn-sandbox.ts";
import { skillLibrary } from "../skills/skills.ts";

/** The calls of a step that are to run. */
export interface ToolWork {
  readonly turnId: string;
  readonly runId: string;
  readonly turn: ActiveTurn;
  readonly credential?: RunCredentialForm;
  readonly calls: readonly ToolCall[];
  readonly signal: AbortSignal;
  /** Returns the untrusted content of the turn until now. */
  readonly untrusted: () => readonly UntrustedSource[];
}

export interface ToolEnvironment
  extends Omit<
    ToolContext,
    | "judgedRequest"
    | "listTasks"
    | "makeMedia"
    | "addSources"
    | "runSubagent"
    | "scheduleTask"
    | "searchWeb"
  > {
  /** Whether commands can reach hosts other than the service. */
  readonly canReachWeb: boolean;
}

/** The skills of the instructions: their files are needed when the first tools run. */
export async function writeLoadedSkills(
  { sandbox, skills }: ToolEnvironment,
  { options }: ActiveTurn,
): Promise<void> {
  for (const name of options.skills ?? []) {
    const skill = await skills.load(name);
    // Tools report a sandbox that fails.
    if (skill) await writeSkill(sandbox, skill).catch(ignoreSandboxError);
  }
}

function ignoreSandboxError(error: unknown): void {
  if (!isSandboxError(error)) throw error;
}

/** A turn of this process has one object of its options. */
const organizationsOfTurns = new WeakMap<object, Promise<string | null>>();

/** Returns the organization that commands of the turn work for, if there is exactly one. */
function organizationOf(
  db: Database,
  { account_id, artist_id, options }: ActiveTurn,
): Promise<string | null> {
  const known =
    organizationsOfTurns.get(options) ?? findOrganizationOfRun(db, account_id, artist_id);
  organizationsOfTurns.set(options, known);
  return known;
}

export async function toolEnvironment(
  app: Parts<"db" | "describeApi" | "models" | "queues" | "sandboxes">,
  { turn, turnId, calls, credential = "key", signal, untrusted }: ToolWork,
): Promise<ToolEnvironment> {
  const { options } = turn;
  // Requests that the tool fetch must ask for are refused to commands, which cannot ask.
  const asks = decisionOn("fetch", { decisions: turn.decisions, untrusted: untrusted() }) !== "run";
  const policies: TurnPolicies = [
    ...(options.network_policies ?? []),
    ...(asks ? [{ of: "approvals", mode: "none" } as const] : []),
  ];
  const organization = calls.some(({ name }) => name === "bash")
    ? await organizationOf(app.db, turn)
    : null;
  const sandbox = openSandbox(app, turn, policies);
  const secret = turn.has_key
    ? await findRunCredential(app.db, turn.account_id, turnId, credential)
    : undefined;
  return {
    sandbox,
    canReachWeb: !asks && canReachWeb(),
    env: {
      AGENT_API_URL: serviceOrigin(),
      RECOUP_API: `${serviceOrigin()}/api`,
      ...(organization !== null && { RECOUP_ORG_ID: organization }),
      ...(secret !== undefined && {
        AGENT_API_AUTH_HEADER: runCredentialHeader(secret, credential),
        // The names that the public skills of the described service use.
        [credential === "key" ? "RECOUP_API_KEY" : "RECOUP_ACCESS_TOKEN"]: secret,
      }),
    },
    signal,
    skills: skillLibrary(app, turn.account_id, turnId),
    documents: { accountId: turn.account_id, queue: app.queues.documents },
    images: {
      areRead: () => acceptsInput(app.models, modelsOf(app.models, turn), "image"),
      shrink: (bytes) =>
        app.queues.thumbnails.run(turn.account_id, signal, () => shrinkForModel(bytes)),
      maxPixels: MAX_PIXELS,
    },
    callMcpTool: async (tool, input) => {
      const { callMcpTool } = await import("../mcp-servers/call-tool.ts");
      return callMcpTool(app, turn.account_id, tool, input, signal, sandbox);
    },
    ...(turn.output_schema && {
      output: {
        schema: turn.output_schema,
        accountId: turn.account_id,
        queue: app.queues.outputChecks,
      },
    }),
    network: options.network_policies ?? [],
    serviceOrigin: serviceOrigin(),
    asksForHosts: asks,
    reportFault: (tool, error) => log().error({ err: error, tool, turnId }, "tool failed"),
  };
}

/**
 * Returns the request of a call of `fetch` to this service as it was judged, with the header that shows so; null if no
 * operation is like that.
 * @param call the turn, and the id under which the call is recorded
 */
export async function judgedRequest(
  app: Parts<"judgeRequest">,
  call: { readonly turnId: string; readonly callId: string },
  method: string,
  given: URL,
  text: string | undefined,
): Promise<JudgedRequest | null> {
  const request = await app.judgeRequest(method, given, text);
  if (!request) return null;
  const { url, body, effects } = request;
  if (effects.categories.length === 0) return { url, headers: {} };
  const mark = markOf({ turnId: call.turnId, method, url, body }, call.callId, effects.categories);
  return { url, headers: { [APPROVED_CALL]: mark } };
}
