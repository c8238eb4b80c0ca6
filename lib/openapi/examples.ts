/**
 * The requests and answers of a running server, for every operation. They are recorded, never
 * written by hand: `RECORD_EXAMPLES=1 npm test -- tests/api/openapi-examples.test.ts` records them
 * again, and without the switch that test compares them with the current answers.
 */
import { type RecordedExchanges, recordedExchanges } from "@platform/endpoint/openapi/examples";
import { z } from "zod";

import account from "../../docs/api/examples/account.json" with { type: "json" };
import agentTemplates from "../../docs/api/examples/agent-templates.json" with { type: "json" };
import approvals from "../../docs/api/examples/approvals.json" with { type: "json" };
import artists from "../../docs/api/examples/artists.json" with { type: "json" };
import catalog from "../../docs/api/examples/catalog.json" with { type: "json" };
import chat from "../../docs/api/examples/chat.json" with { type: "json" };
import connectors from "../../docs/api/examples/connectors.json" with { type: "json" };
import content from "../../docs/api/examples/content.json" with { type: "json" };
import deliveries from "../../docs/api/examples/deliveries.json" with { type: "json" };
import keys from "../../docs/api/examples/keys.json" with { type: "json" };
import mcp from "../../docs/api/examples/mcp.json" with { type: "json" };
import mcpServers from "../../docs/api/examples/mcp-servers.json" with { type: "json" };
import models from "../../docs/api/examples/models.json" with { type: "json" };
import organizations from "../../docs/api/examples/organizations.json" with { type: "json" };
import research from "../../docs/api/examples/research.json" with { type: "json" };
import sandbox from "../../docs/api/examples/sandbox.json" with { type: "json" };
import service from "../../docs/api/examples/service.json" with { type: "json" };
import sessions from "../../docs/api/examples/sessions.json" with { type: "json" };
import signUp from "../../docs/api/examples/sign-up.json" with { type: "json" };
import skills from "../../docs/api/examples/skills.json" with { type: "json" };
import tasks from "../../docs/api/examples/tasks.json" with { type: "json" };
import usage from "../../docs/api/examples/usage.json" with { type: "json" };
import webhooks from "../../docs/api/examples/webhooks.json" with { type: "json" };
import workspace from "../../docs/api/examples/workspace.json" with { type: "json" };

/** Examples by operation id. */
export const examples: Readonly<Record<string, RecordedExchanges>> = z
  .record(z.string(), recordedExchanges)
  .parse({
    ...account,
    ...agentTemplates,
    ...approvals,
    ...artists,
    ...catalog,
    ...chat,
    ...connectors,
    ...content,
    ...deliveries,
    ...keys,
    ...mcp,
    ...models,
    ...organizations,
    ...research,
    ...sandbox,
    ...service,
    ...sessions,
    ...signUp,
    ...skills,
    ...mcpServers,
    ...tasks,
    ...usage,
    ...webhooks,
    ...workspace,
  });
