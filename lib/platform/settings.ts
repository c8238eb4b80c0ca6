/**
 * Every setting, by section, with its description as data: `docs/settings.md` and `.env.example` are
 * generated from here by `scripts/generate-docs.ts`. This file is long because it is a list: a reader
 * searches it for one name.
 */
import { availableParallelism } from "node:os";
import { modelPrice } from "@platform/agent/models/model-price";
import { z } from "zod";

const list = z
  .string()
  .optional()
  .transform((text) =>
    (text ?? "")
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  );
/** A list of which each entry satisfies `isValid`; an error names the place, not the entry. */
const listOf = (kind: string, isValid: (item: string) => boolean) =>
  list.superRefine((items, context) => {
    for (const [index, item] of items.entries()) {
      if (!isValid(item)) context.addIssue(`entry ${index + 1} is not ${kind}`);
    }
  });
const flag = <F extends boolean | undefined>(fallback: F) =>
  z
    .enum(["true", "false", "1", "0"])
    .optional()
    .transform((value) => (value === undefined ? fallback : value === "true" || value === "1"));
const integer = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number().int().min(min).max(max);
const integerOr = (fallback: number, min: number, max?: number) =>
  integer(min, max).default(fallback);
const secret = (minLength: number) => z.string().min(minLength);
const optionalSecret = (minLength: number) => secret(minLength).optional();
const text = z.string().min(1);
const textOr = (fallback: string) => text.default(fallback);
const json = z
  .string()
  .default("{}")
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue("must be JSON");
      return z.NEVER;
    }
  });
const prices = json.pipe(z.record(z.string(), modelPrice));
const FAL_MODES = [
  ...["prompt", "animate", "reference", "extend", "first-last", "lipsync"],
  ...["image", "image-edit"],
] as const;
const optionalText = text.optional();
const webUrl = z.url({
  protocol: /^https?$/,
  error: "must be a URL with http or https, such as https://api.example.com",
});
const optionalUrl = webUrl.optional();
const urlOr = (fallback: string) => webUrl.default(fallback);
const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  error: "must be a URL such as postgres://user:password@host:5432/postgres",
});
const optionalPostgresUrl = postgresUrl.optional();
const isOrigin = (item: string): boolean => {
  const url = URL.parse(item);
  return /^https?:$/.test(url?.protocol ?? "") && url?.href === `${url?.origin}/`;
};
/** A host, with a wildcard in front or a port behind it. */
const HOST_PATTERN = /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i;
/** An address by itself, or a name with the address in angle brackets. */
const SENDER = /^(?:[^<>]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/;

const service = {
  HOST: textOr("0.0.0.0").describe(
    "The address to listen on. In development other machines cannot reach the service unless this is set.",
  ),
  PORT: integerOr(3000, 1, 65_535).describe("The port to listen on."),
  DATA_DIR: textOr(".data").describe(
    "The folder where the embedded parts and the local sandbox keep their data.",
  ),
  PUBLIC_URL: optionalUrl.describe(
    "The origin that callers and the sandbox reach. When it is https, every answer has `strict-transport-security`.",
  ),
  WEB_CONCURRENCY: integer(1, 1_024)
    .default(availableParallelism)
    .describe(
      "The server processes of `npm start`. They share one port, and one that exits is replaced.",
    ),
  DRAIN_SECONDS: integerOr(20, 0, 3_600).describe(
    "Seconds that a server process has after SIGTERM to end the steps of its turns, before it hands them over to another process or to the next start. Process managers should wait a little longer before they send SIGKILL.",
  ),
  API_KEY_SECRET: secret(32).describe(
    "The secret of at least 32 characters that keys the hashes of API keys and codes, makes the credentials of runs and the links of shared chats, and derives the key that seals stored answers.",
  ),
  API_KEY_SECRET_PREVIOUS: optionalSecret(32).describe(
    "Another secret that is accepted while `API_KEY_SECRET` is being replaced. Keys, links and stored secrets that were made with it stay valid until this is removed. See operations.md.",
  ),
  TRUSTED_PROXIES: integer(0)
    .optional()
    .describe(
      "The number of proxies in front that append to `x-forwarded-for`: the caller is this many entries from its end. 0 takes the other end of the connection. Without it, all callers behind a proxy count as one address.",
    ),
  OUTBOUND_LOOPBACK: flag(false).describe(
    "Whether media, skills, webhooks and MCP servers that callers name may be on this machine's loopback, by http. For development, where it is the default.",
  ),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe(
      "The least severe level that is logged. A request is one JSON line, without credentials or bodies.",
    ),
};

const database = {
  SUPABASE_URL: webUrl.describe("A Supabase project with the schema of `supabase/schemas`."),
  SUPABASE_SECRET_KEY: text.describe("The project's secret key, `sb_secret_…`."),
  SUPABASE_PUBLISHABLE_KEY: optionalText.describe(
    "The project's public key, with which the console signs people in. Without it the console has no sign-in.",
  ),
  DATABASE_URL: optionalPostgresUrl.describe(
    "PostgreSQL of the durable engine, by a direct or session-mode connection unless `DIRECT_DATABASE_URL` is set. SQL functions are called over it too, instead of over REST, if it is the database behind `SUPABASE_URL` and its login may act as `service_role`. It runs no turns where `WORKFLOW_TARGET_WORLD` is set. On Vercel it is not used at all, because an integration may have set it.",
  ),
  DIRECT_DATABASE_URL: optionalPostgresUrl.describe(
    "The same database by a direct or session-mode connection, where `DATABASE_URL` leads through a pooler in transaction mode: the engine, migrations and commands use it.",
  ),
  WORKFLOW_TARGET_WORLD: optionalText.describe(
    "Runs the turns on a World of the Workflow SDK instead: the name of an installed package such as `@workflow/world-postgres`, or `local`. The World reads its own settings, such as `WORKFLOW_POSTGRES_URL`.",
  ),
};

const identity = {
  SUPABASE_JWT_SECRET: optionalSecret(32).describe(
    "The shared HS256 secret of the auth server, if it has one. Bearers are verified by the keys of `OIDC_ISSUER` when that is set, else with this secret, else by the keys of `SUPABASE_URL`.",
  ),
  SUPABASE_JWT_ISSUER: optionalText.describe(
    "The `iss` of Supabase's tokens, where a custom domain makes it another.",
  ),
  OIDC_ISSUER: optionalUrl.describe(
    "An OIDC provider whose issuer is a URL and whose tokens, or userinfo, have `email` and `email_verified`, such as Auth0, Amazon Cognito, Keycloak, Okta or Zitadel. Clerk needs a template with both claims; Microsoft Entra sends no `email_verified`, and Privy's issuer is not a URL. It needs `OIDC_AUDIENCE` too.",
  ),
  OIDC_AUDIENCE: optionalText.describe("The audience that tokens of `OIDC_ISSUER` must name."),
  OIDC_EMAIL_VERIFIED_BY_DEFAULT: flag(false).describe(
    "Whether an e-mail counts as verified when the provider never sends `email_verified`. Set it only for a provider that verifies every address.",
  ),
};

const models = {
  AI_GATEWAY_API_KEY: optionalText.describe("Selects the models of the AI Gateway."),
  OPENAI_BASE_URL: optionalUrl.describe(
    "Selects an OpenAI-compatible server, such as Ollama or vLLM.",
  ),
  OPENAI_API_KEY: optionalText.describe("The key of that server."),
  MODELS: list.describe("The ids of the models that callers may choose, separated by commas."),
  DEFAULT_MODEL: optionalText.describe("The id of the model of a chat that names none."),
  FALLBACK_MODELS: list
    .refine((ids) => ids.length <= 3, { error: "must name at most three models" })
    .describe(
      "The ids of the models that are called, in this order, while the model of a run that names no `fallback_models` is overloaded, rate limited, unavailable or fails.",
    ),
  MODEL_PRICES: prices.describe(
    'What models cost in USD, as JSON by the id of the model: `{"my-model": {"input": 3, "cached_input": 0.3, "output": 15, "image": 0.04, "video": 0.5}}`, for a million tokens and for each image or video. It takes precedence over the gateway\'s list. A model without a price has tokens and no cost. An account with a budget may use it only if it has set `allow_unpriced_models`.',
  ),
  DEFAULT_CONTEXT_WINDOW: integerOr(128_000, 4_000, 100_000_000).describe(
    "The context window in tokens of a model for which neither the provider's list nor the model itself names one.",
  ),
  PROMPT_CACHE_KEY: flag(false).describe(
    "Whether requests to the server of `OPENAI_BASE_URL` name their chat as `prompt_cache_key`, with which some providers find the cached beginning of a prompt. A server that does not know the field may reject it.",
  ),
  FAST_MODEL: optionalText.describe(
    "The id of a model that subagents may use for simple work, and that gives chats their titles. Without it the least expensive of `MODELS` does, and without a price for any of these a title is the start of the first message.",
  ),
  SUMMARY_MODEL: optionalText.describe(
    "The id of the model that condenses conversations that get too long for theirs.",
  ),
  MODEL_CALLS_AT_ONCE: integerOr(128, 2, 100_000).describe(
    "Model calls at a time in one process. One account has at most half of them.",
  ),
};

const sandbox = {
  SANDBOX: z
    .enum(["system"])
    .optional()
    .describe(
      "`system` gives sandboxes the programs of this machine, such as bash, Python, git and ffmpeg, isolated by bubblewrap, which must be installed (Linux only).",
    ),
  VERCEL_TOKEN: optionalText.describe(
    "Selects Vercel Sandbox, together with the next two. On Vercel itself it is not needed.",
  ),
  VERCEL_TEAM_ID: optionalText.describe("The team of the sandboxes."),
  VERCEL_PROJECT_ID: optionalText.describe("The project of the sandboxes."),
  SANDBOX_ALLOWED_HOSTS: listOf("a host such as api.example.com", (item) =>
    HOST_PATTERN.test(item),
  ).describe(
    "Hosts with public addresses that the sandbox's commands may call besides this service, separated by commas.",
  ),
  ACCOUNT_SANDBOX_BYTES: integerOr(20 * 1024 ** 3, 0).describe(
    "Bytes of files that all local sandboxes of one account may hold; 0 disables the limit. A running sandbox reserves 512 MiB, so this should be many times that.",
  ),
  SANDBOX_COMMANDS_AT_ONCE: integerOr(16, 2, 1_000).describe(
    "Commands of the local sandbox at a time, divided between the server processes of this machine, of which each runs at least two. One account runs at most half as many.",
  ),
};

const limits = {
  ACCOUNT_RATE_LIMIT: integerOr(6_000, 0).describe(
    "Requests a minute of one account, counted in the database; 0 disables the limit.",
  ),
  ADDRESS_RATE_LIMIT: integerOr(12_000, 0).describe(
    "Requests a minute of one network address; 0 disables the limit.",
  ),
  ANONYMOUS_LOOKUPS: flag(true).describe(
    "Whether the catalog and research may be asked without a credential.",
  ),
  ANONYMOUS_RATE_LIMIT: integerOr(60, 0).describe(
    "Requests a minute of one address without a credential, and five times as many for pages of the console; 0 disables the limit.",
  ),
  SIGNUP_RATE_LIMIT: integerOr(20, 0).describe(
    "Sign-up and sign-in requests a minute of one address; 0 disables the limit.",
  ),
  ACCOUNT_ACTIVE_TURNS: integerOr(50, 0, 1_000_000).describe(
    "Turns and headless runs that one account may have active at a time, over all processes; 0 disables the limit.",
  ),
  APPROVAL_DAYS: integerOr(7, 1, 365).describe(
    "Days that a turn waits for an approval that its agent has asked for. Then the call is denied.",
  ),
};

const mail = {
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe("The mail server, as `smtps://user:password@host`. It needs `MAIL_FROM` too."),
  MAIL_FROM: z
    .string()
    .regex(SENDER, "is not an address")
    .optional()
    .describe("The sender, as `Name <address>`."),
};

const connectors = {
  COMPOSIO_API_KEY: optionalText.describe("Selects Composio's connectors."),
  COMPOSIO_WEBHOOK_SECRET: optionalSecret(16).describe(
    "The secret with which Composio signs the events of connected accounts: of a webhook subscription (version V3) to `composio.trigger.message` at `PUBLIC_URL/api/triggers/composio`.",
  ),
  CONNECTOR_CALLBACK_ORIGINS: listOf(
    "an origin such as https://app.example.com",
    isOrigin,
  ).describe(
    "The origins that a `callback_url` may have, separated by commas. Set it in production.",
  ),
};

const lookups = {
  CATALOG_CLIENT_ID: optionalText.describe(
    "Selects the music catalog's web API (Spotify's, or one of its shape), together with the secret.",
  ),
  CATALOG_CLIENT_SECRET: optionalText.describe("The secret of `CATALOG_CLIENT_ID`."),
  CATALOG_BASE_URL: urlOr("https://api.spotify.com/v1").describe("The catalog's API."),
  CATALOG_TOKEN_URL: urlOr("https://accounts.spotify.com/api/token").describe(
    "Where the catalog's access tokens come from.",
  ),
  RESEARCH_API_KEY: optionalText.describe(
    "Selects the research web API (Songstats', or one of its shape).",
  ),
  RESEARCH_BASE_URL: urlOr("https://api.songstats.com/enterprise/v1").describe("The research API."),
  SEARCH_PROVIDER: z
    .union([z.enum(["brave", "exa"]), webUrl], { error: "must be brave, exa, or a URL" })
    .optional()
    .describe(
      "Selects the vendor of web searches: `brave`, `exa`, or the URL of a SearXNG server.",
    ),
  SEARCH_API_KEY: optionalText.describe("The key of `brave` or `exa`."),
};

const content = {
  TRIGGER_SECRET_KEY: optionalText.describe(
    "Selects a Trigger.dev project: its runs are listed, and with `CRON_SECRET` scheduled prompts and a vendor's images and videos are tasks there.",
  ),
  TRIGGER_API_URL: urlOr("https://api.trigger.dev").describe("Trigger.dev's API."),
  FAL_KEY: optionalText.describe("Selects fal for images and videos."),
  FAL_MODELS: json
    .pipe(z.partialRecord(z.enum(FAL_MODES), z.string().regex(/^[\w.-]+(?:\/[\w.-]+)+$/)))
    .optional()
    .describe(
      `JSON of fal's models by purpose, in place of the defaults: ${FAL_MODES.join(", ")}. A model must take the inputs of the default one.`,
    ),
  CONTENT_AT_ONCE: integerOr(20, 0).describe(
    "Concurrent image and video generations per account; 0 disables the limit.",
  ),
  ACCOUNT_MESSAGE_BYTES: integerOr(1024 ** 3, 0).describe(
    "Bytes of messages that one account may keep; 0 disables the limit. Answers are counted, and stored even beyond it.",
  ),
  ACCOUNT_MEDIA_BYTES: integerOr(10 * 1024 ** 3, 0).describe(
    "Bytes of images and videos that one account may keep; 0 disables the limit.",
  ),
  RENDERS_AT_ONCE: integerOr(2, 1, 1_000).describe(
    "Renderings on this machine at a time, divided between its server processes, of which each has at least one. In a process with two or more, one account has at most half of them.",
  ),
};

const schedules = {
  CRON_SECRET: optionalSecret(16).describe(
    "The secret with which a scheduler, such as Vercel's cron jobs, calls `GET /api/cron/tasks`, and the tasks at Trigger.dev `POST /api/cron/task-runs/{id}`.",
  ),
};

const retention = {
  RUN_TRACE_RETENTION_DAYS: integerOr(30, 1, 36_500).describe(
    "Days after its end that the trace of a run is kept: its steps and tool calls with their durations.",
  ),
  SANDBOX_RETENTION_DAYS: integerOr(0, 0, 36_500).describe(
    "Days after the last turn of its session that a local sandbox is kept; its files are then deleted, and the session can have a new sandbox. 0 keeps sandboxes until they are stopped or their session is deleted.",
  ),
  REQUEST_LOG_RETENTION_DAYS: integerOr(7, 0, 36_500).describe(
    "Days that a request stays in the log of its account; 0 logs none.",
  ),
};

const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl.describe(
    "The OpenTelemetry collector that traces and metrics are sent to, such as `http://localhost:4318`. The SDK's other variables apply as well, such as `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`.",
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(["http/protobuf", "http/json"])
    .default("http/protobuf")
    .describe("`http/protobuf` or `http/json`."),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      "The share of traces that are recorded, from 0 to 1. The steps of a turn follow the request that started it.",
    ),
  OTEL_RECORD_CONTENT: flag(false).describe(
    "Whether the spans of model calls contain the prompts and the answers, which everyone with access to the traces can then read.",
  ),
};

const constants = z.strictObject({
  /** Requests with a credential at a time in one process. One account has at most half of them. */
  REQUESTS_AT_ONCE: integerOr(128, 2),
  /** Streams of turns that one account may hold open at one process. */
  ACCOUNT_STREAMS: integerOr(100, 1),
  /** How long a model call and a command wait for their turn; a rendering three times as long. */
  QUEUE_WAIT_MS: integerOr(300_000, 1),
  /** How long the APIs of the catalog, of research and of connectors and a mail server may take for one answer. */
  VENDOR_TIMEOUT_MS: integerOr(10_000, 1),
  /** How long the answer waits for an image or a video, which is made nevertheless. */
  CONTENT_TIMEOUT_MS: integerOr(280_000, 1),
  /** How long an endpoint of a webhook may take for its answer. */
  WEBHOOK_TIMEOUT_MS: integerOr(15_000, 100),
  /** How long a mail server may take for one mail with the result of a run. */
  DELIVERY_TIMEOUT_MS: integerOr(60_000, 100),
  /** How long spans and metrics are collected before they are sent. */
  SPANS_INTERVAL_MS: integerOr(5_000, 1),
  METRICS_INTERVAL_MS: integerOr(60_000, 1),
  /** Whether a sandbox on this machine starts its process before its first command; 0: with it. */
  SANDBOXES_START_AHEAD: integerOr(1, 0),
  /** How often this process looks for scheduled prompts and memories that are due; 0: never. */
  TASK_INTERVAL_SECONDS: integerOr(5, 0),
  /** How often the retention job runs; 0 turns it off in this process. */
  RETENTION_INTERVAL_SECONDS: integerOr(600, 0),
});

/** Variables that the launcher, the platform or a test sets, and an operator never does. */
const provided = {
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
  /** The number of processes that share the limits of this machine. */
  SERVER_PROCESSES: integerOr(1, 1),
  /** Whether a server process checks the installation first. The launcher lets one of them do it. */
  CHECK_START: flag(true),
  /** The origin at which a server process reaches itself and no other. */
  SELF_ORIGIN: optionalUrl,
  /** Whether the database is the embedded one, as `GET /api/health` says. */
  EMBEDDED_SUPABASE: flag(false),
  VERCEL: flag(false),
  VERCEL_PROJECT_PRODUCTION_URL: optionalText,
  /** Whether every response body is checked against its contract. */
  CHECK_RESPONSES: flag(false),
  /** Composio, fal's queue, where fal takes files that it cannot fetch, and the vendor of web searches: fakes in tests. */
  COMPOSIO_BASE_URL: urlOr("https://backend.composio.dev"),
  FAL_BASE_URL: urlOr("https://queue.fal.run"),
  FAL_STORAGE_URL: urlOr("https://rest.fal.ai"),
  SEARCH_BASE_URL: optionalUrl,
  /** The kinds that `OUTBOUND_LOOPBACK` is about, for tests of one: `mcp`, `media`, `skills` and `webhooks`. */
  LOOPBACK_URLS: list,
  /** Constants that only tests change. */
  TEST_CONSTANTS: json.pipe(constants),
};

/** Replaces defaults in the documents, where they depend on something. */
export const shownDefaults: Readonly<Record<string, string>> = {
  HOST: "`127.0.0.1` for `npm run dev`, `0.0.0.0` for `npm start`",
  PUBLIC_URL: "`http://localhost:PORT`; on Vercel the domain of the production deployment",
  WEB_CONCURRENCY: "the number of processor cores",
  API_KEY_SECRET: "generated and kept in `DATA_DIR`",
  TRUSTED_PROXIES: "0; 1 on Vercel",
  SUPABASE_URL: "embedded",
  SUPABASE_SECRET_KEY: "embedded",
  SUPABASE_PUBLISHABLE_KEY: "embedded",
  DATABASE_URL: "embedded",
  WORKFLOW_TARGET_WORLD: "none; `vercel` on Vercel",
  SUPABASE_JWT_SECRET: "embedded",
  SUPABASE_JWT_ISSUER: "`SUPABASE_URL/auth/v1`",
  MODELS: "all that the provider offers",
  DEFAULT_MODEL: "the first",
  MODEL_PRICES: "the gateway's prices",
  FAST_MODEL: "none: the model of the chat",
  SUMMARY_MODEL: "the model of the chat",
  SANDBOX: "Vercel Sandbox where it is selected, else a built-in shell",
  SMTP_URL: "none: mail is written to `DATA_DIR/mailbox`; on Vercel it must be set",
  COMPOSIO_API_KEY: "none: a consent page on this machine",
  COMPOSIO_WEBHOOK_SECRET: "none: no trigger at an event of a connected account can be created",
  CONNECTOR_CALLBACK_ORIGINS: "any https origin, with a warning at the start",
  CATALOG_CLIENT_ID: "none: the catalog in the database",
  RESEARCH_API_KEY: "none: the catalog in the database",
  SEARCH_PROVIDER: "none: a few pages of references, without a web search",
  TRIGGER_SECRET_KEY: "none: the durable engine runs tasks",
  FAL_KEY:
    "none: they are rendered on this machine, or answered with 503 where the renderer is not installed, as on Vercel",
  CRON_SECRET: "none: both endpoints answer 503",
  OTEL_EXPORTER_OTLP_ENDPOINT: "none: nothing is recorded, and no SDK is loaded",
};

export const settingSections: readonly {
  readonly title: string;
  readonly settings: Readonly<Record<string, z.ZodType>>;
}[] = [
  { title: "Service", settings: service },
  { title: "Database and durable turns", settings: database },
  { title: "Identity", settings: identity },
  { title: "Models", settings: models },
  { title: "Sandbox", settings: sandbox },
  { title: "Limits", settings: limits },
  { title: "Mail", settings: mail },
  { title: "Connectors", settings: connectors },
  { title: "Catalog and research", settings: lookups },
  { title: "Tasks, images and videos", settings: content },
  { title: "Scheduled prompts", settings: schedules },
  { title: "Retention", settings: retention },
  { title: "Telemetry", settings: telemetry },
];

export const settings = z.object({
  ...service,
  ...database,
  ...identity,
  ...models,
  ...sandbox,
  ...limits,
  ...mail,
  ...connectors,
  ...lookups,
  ...content,
  ...schedules,
  ...retention,
  ...telemetry,
  ...provided,
});
