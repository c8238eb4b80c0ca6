/**
 * Every contract of the service: the source of the OpenAPI document. A test compares it with the
 * route files, and fails for a contract without a route and a route without a contract.
 */

import type { Contract } from "@platform/endpoint/contract/contract";
import { createJudge } from "@platform/endpoint/judge-request";
import { type Operation, operationsIn } from "@platform/endpoint/openapi/operation";
import * as accounts from "../accounts/contract.ts";
import * as approvals from "../approvals/contract.ts";
import * as artists from "../artists/contract.ts";
import * as catalog from "../catalog/contract.ts";
import * as connectors from "../connectors/contract.ts";
import * as content from "../content/contract.ts";
import * as contexts from "../context/contract.ts";
import * as delivery from "../delivery/contract.ts";
import * as health from "../health/contract.ts";
import * as keys from "../identity/keys/contract.ts";
import * as signup from "../identity/sign-up/contract.ts";
import * as mcp from "../mcp/contract.ts";
import * as mcpServers from "../mcp-servers/contract.ts";
import * as memories from "../memory/contract.ts";
import * as models from "../models/contract.ts";
import * as organizations from "../organizations/contract.ts";
import * as requests from "../requests/contract.ts";
import * as research from "../research/contract.ts";
import * as sandboxes from "../sandbox/contract.ts";
import * as chats from "../sessions/chats-contract.ts";
import * as sessions from "../sessions/contract.ts";
import * as shares from "../sessions/shares/contract.ts";
import * as skills from "../skills/contract.ts";
import * as tasks from "../task-runs/contract.ts";
import * as schedules from "../tasks/contract.ts";
import * as templates from "../templates/contract.ts";
import * as triggers from "../triggers/contract.ts";
import * as chat from "../turns/contract.ts";
import * as modelCalls from "../turns/model-call-contract.ts";
import * as queue from "../turns/queue-contract.ts";
import * as runs from "../turns/run-contract.ts";
import * as usage from "../usage/contract.ts";
import * as webhooks from "../webhooks/contract.ts";
import * as workspaces from "../workspace/contract.ts";

const domains = [
  chat,
  queue,
  runs,
  modelCalls,
  approvals,
  keys,
  signup,
  accounts,
  organizations,
  artists,
  sessions,
  chats,
  contexts,
  shares,
  sandboxes,
  workspaces,
  memories,
  templates,
  skills,
  mcpServers,
  tasks,
  triggers,
  webhooks,
  delivery,
  schedules,
  usage,
  requests,
  content,
  models,
  connectors,
  catalog,
  research,
  mcp,
  health,
];

export const operations: readonly Operation[] = operationsIn(domains);

export const contracts: readonly Contract[] = operations.map(({ contract }) => contract);

/** Returns a request to this service as its router and its endpoint understand it. */
export const judgeRequest = createJudge(contracts);
