/**
 * The requests and answers of a running server, for every operation. They are recorded, never
 * written by hand: `RECORD_EXAMPLES=1 npm test -- tests/api/openapi-examples.test.ts` records them
 * again, and without the switch that test compares them with the current answers.
 */
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

const texts = z.record(z.string(), z.string());

const exchange = z.object({
  request: z.object({
    params: texts.optional(),
    query: texts.optional(),
    headers: texts.optional(),
    body: z.unknown().optional(),
  }),
  response: z.object({
    status: z.int(),
    headers: texts,
    /** Parsed JSON, or the text of an event stream; absent when there is no body. */
    body: z.unknown().optional(),
  }),
});
export type Exchange = z.output<typeof exchange>;

/** By name: the particularity of a success, or the code of an error. The simplest one is first. */
const exchanges = z.record(z.string(), exchange);
export type Exchanges = z.output<typeof exchanges>;

/** By operation id. */
export const examples: Readonly<Record<string, Exchanges>> = z.record(z.string(), exchanges).parse({
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

/** Returns the bodies of the matching exchanges as OpenAPI lists examples: by name. */
export function bodiesOf(
  exchanges: Exchanges,
  matches: (exchange: Exchange) => boolean,
  side: (exchange: Exchange) => { readonly body?: unknown },
): Record<string, { value: unknown }> {
  const chosen = Object.entries(exchanges).filter(
    ([, exchange]) => matches(exchange) && side(exchange).body !== undefined,
  );
  return Object.fromEntries(
    chosen.map(([name, exchange]) => [name, { value: side(exchange).body }]),
  );
}

/** Returns the parameters with the values of an example. */
export function withParameterExamples(
  { shape }: z.ZodObject,
  values: Readonly<Record<string, string>> = {},
): z.ZodObject {
  const parameters = Object.entries(shape).map(([name, schema]) => {
    const value = values[name];
    if (value === undefined || !(schema instanceof z.ZodType)) return [name, schema] as const;
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    const { override } = { ...z.globalRegistry.get(inner), ...schema.meta() };
    const isText = typeof override !== "object" || override.type === "string";
    return [name, schema.meta({ param: { example: isText ? value : JSON.parse(value) } })] as const;
  });
  return z.object(Object.fromEntries(parameters));
}

/** Returns the `content` of a JSON body. */
export const json = (schema: z.ZodType, examples: Record<string, { value: unknown }>) => ({
  "application/json": { schema, ...withExamples(examples) },
});

export const withExamples = (examples: Record<string, { value: unknown }>) =>
  Object.keys(examples).length > 0 ? { examples } : {};
