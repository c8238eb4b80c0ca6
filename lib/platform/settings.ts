/**
 * Every setting, by section, with its description as data: `docs/settings.md` and `.env.example` are
 * generated from here by `scripts/generate-docs.ts`. This file is long because it is a list: a reader
 * searches it for one name.
 */
import { availableParallelism } from "node:os";
import { z } from "zod";
import { modelPrice } from "./model-price.ts";

/** The documentation of a setting. */
interface About {
  readonly description: string;
  /** Replaces the default in the documents, where it depends on something. */
  readonly shownDefault?: string;
}

const about = <S extends z.ZodType>(schema: S, facts: About | string): S =>
  schema.meta(typeof facts === "string" ? { description: facts } : { ...facts });

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
const text = z.string().min(1);
const prices = z
  .string()
  .default("{}")
  .transform((json, context): unknown => {
    try {
      return JSON.parse(json);
    } catch {
      context.addIssue("must be JSON");
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), modelPrice));
const optionalText = text.optional();
const webUrl = z.url({
  protocol: /^https?$/,
  error: "must be a URL with http or https, such as https://api.example.com",
});
const optionalUrl = webUrl.optional();
const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  error: "must be a URL such as postgres://user:password@host:5432/postgres",
});
const isOrigin = (item: string): boolean => {
  const url = URL.parse(item);
  return /^https?:$/.test(url?.protocol ?? "") && url?.href === `${url?.origin}/`;
};
/** A host, with a wildcard in front or a port behind it. */
const HOST_PATTERN = /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i;
/** An address by itself, or a name with the address in angle brackets. */
const SENDER = /^(?:[^<>]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/;

const service = {
  HOST: about(text.default("0.0.0.0"), {
    description:
      "The address to listen on. In development other machines cannot reach the service unless this is set.",
    shownDefault: "`127.0.0.1` for `npm run dev`, `0.0.0.0` for `npm start`",
  }),
  PORT: about(integer(1, 65_535).default(3000), "The port to listen on."),
  DATA_DIR: about(
    text.default(".data"),
    "The folder where the embedded parts and the local sandbox keep their data.",
  ),
  PUBLIC_URL: about(optionalUrl, {
    description:
      "The origin that callers and the sandbox reach. When it is https, every answer has `strict-transport-security`.",
    shownDefault: "`http://localhost:PORT`; on Vercel the domain of the production deployment",
  }),
  WEB_CONCURRENCY: about(integer(1, 1_024).default(availableParallelism), {
    description:
      "The server processes of `npm start`. They share one port, and one that exits is replaced.",
    shownDefault: "the number of processor cores",
  }),
  DRAIN_SECONDS: about(
    integer(0, 3_600).default(20),
    "Seconds that a server process has after SIGTERM to end the steps of its turns, before it hands them over to another process or to the next start. Process managers should wait a little longer before they send SIGKILL.",
  ),
  API_KEY_SECRET: about(z.string().min(32), {
    description:
      "The secret of at least 32 characters that keys the hashes of API keys and codes, makes the credentials of runs and the links of shared chats, and derives the key that seals stored answers.",
    shownDefault: "generated and kept in `DATA_DIR`",
  }),
  TRUSTED_PROXIES: about(integer(0).optional(), {
    description:
      "The number of proxies in front that append to `x-forwarded-for`: the caller is this many entries from its end. 0 takes the other end of the connection. Without it, all callers behind a proxy count as one address.",
    shownDefault: "0; 1 on Vercel",
  }),
  LOG_LEVEL: about(
    z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
    "The least severe level that is logged. A request is one JSON line, without credentials or bodies.",
  ),
};

const database = {
  SUPABASE_URL: about(webUrl, {
    description: "A Supabase project with `supabase/migrations` applied.",
    shownDefault: "embedded",
  }),
  SUPABASE_SECRET_KEY: about(text, {
    description: "The project's secret key.",
    shownDefault: "embedded",
  }),
  SUPABASE_PUBLISHABLE_KEY: about(optionalText, {
    description:
      "The project's public key, with which the console signs people in. Without it the console has no sign-in.",
    shownDefault: "embedded",
  }),
  DATABASE_URL: about(postgresUrl.optional(), {
    description:
      "PostgreSQL of the durable engine, by a direct or session-mode connection. SQL functions are called over it too, instead of over REST, if it is the database behind `SUPABASE_URL` and its login may act as `service_role`. It runs no turns where `WORKFLOW_TARGET_WORLD` is set. On Vercel it is not used at all, because an integration may have set it.",
    shownDefault: "embedded",
  }),
  WORKFLOW_TARGET_WORLD: about(optionalText, {
    description:
      "Runs the turns on a World of the Workflow SDK instead: the name of an installed package such as `@workflow/world-postgres`, or `local`. The World reads settings of its own, such as `WORKFLOW_POSTGRES_URL`.",
    shownDefault: "none; `vercel` on Vercel",
  }),
};

const identity = {
  SUPABASE_JWT_SECRET: about(z.string().min(32).optional(), {
    description:
      "The shared HS256 secret of the auth server, if it has one. Bearers are verified by the keys of `OIDC_ISSUER` when that is set, else with this secret, else by the keys of `SUPABASE_URL`.",
    shownDefault: "embedded",
  }),
  SUPABASE_JWT_ISSUER: about(optionalText, {
    description: "The `iss` of Supabase's tokens, where a custom domain makes it another.",
    shownDefault: "`SUPABASE_URL/auth/v1`",
  }),
  OIDC_ISSUER: about(optionalUrl, "Any OIDC provider. It needs `OIDC_AUDIENCE` too."),
  OIDC_AUDIENCE: about(optionalText, "The audience that tokens of `OIDC_ISSUER` must name."),
  OIDC_EMAIL_VERIFIED_BY_DEFAULT: about(
    flag(false),
    "Whether an e-mail counts as verified when the provider never sends `email_verified`. Set it only for a provider that verifies every address.",
  ),
};

const models = {
  AI_GATEWAY_API_KEY: about(optionalText, "Selects the models of the AI Gateway."),
  OPENAI_BASE_URL: about(
    optionalUrl,
    "Selects an OpenAI-compatible server, such as Ollama or vLLM.",
  ),
  OPENAI_API_KEY: about(optionalText, "The key of that server."),
  MODELS: about(list, {
    description: "The ids of the models that callers may choose, separated by commas.",
    shownDefault: "all that the provider offers",
  }),
  DEFAULT_MODEL: about(optionalText, {
    description: "The id of the model of a chat that names none.",
    shownDefault: "the first",
  }),
  MODEL_PRICES: about(prices, {
    description:
      'What models cost in USD, as JSON by the id of the model: `{"my-model": {"input": 3, "cached_input": 0.3, "output": 15, "image": 0.04, "video": 0.5}}`, for a million tokens and for each image or video. It takes precedence over the gateway\'s list. A model without a price has tokens and no cost. An account with a budget may use it only if it has set `allow_unpriced_models`.',
    shownDefault: "the gateway's prices",
  }),
  MODEL_CALLS_AT_ONCE: about(
    integer(2, 100_000).default(128),
    "Model calls at a time in one process. One account has at most half of them.",
  ),
};

const sandbox = {
  SANDBOX: about(z.enum(["system"]).optional(), {
    description:
      "`system` gives sandboxes the programs of this machine, such as bash, Python, git and ffmpeg, isolated by bubblewrap, which must be installed (Linux only).",
    shownDefault: "Vercel Sandbox where it is selected, else a shell of its own",
  }),
  VERCEL_TOKEN: about(
    optionalText,
    "Selects Vercel Sandbox, together with the next two. On Vercel itself it is not needed.",
  ),
  VERCEL_TEAM_ID: about(optionalText, "The team of the sandboxes."),
  VERCEL_PROJECT_ID: about(optionalText, "The project of the sandboxes."),
  SANDBOX_ALLOWED_HOSTS: about(
    listOf("a host such as api.example.com", (item) => HOST_PATTERN.test(item)),
    "Hosts with public addresses that the sandbox's commands may call besides this service, separated by commas.",
  ),
  ACCOUNT_SANDBOX_BYTES: about(
    integer(0).default(20 * 1024 ** 3),
    "Bytes of files that all local sandboxes of one account may hold; 0 is no limit. A running sandbox reserves 512 MiB, so this should be many times that.",
  ),
  SANDBOX_COMMANDS_AT_ONCE: about(
    integer(2, 1_000).default(16),
    "Commands of the local sandbox at a time, divided between the server processes of this machine, of which each runs at least two. One account runs at most half as many.",
  ),
};

const limits = {
  ACCOUNT_RATE_LIMIT: about(
    integer(0).default(6_000),
    "Requests a minute of one account, counted in the database; 0 is no limit.",
  ),
  ADDRESS_RATE_LIMIT: about(
    integer(0).default(12_000),
    "Requests a minute of one network address; 0 is no limit.",
  ),
  ANONYMOUS_LOOKUPS: about(
    flag(true),
    "Whether the catalog and research may be asked without a credential.",
  ),
  ANONYMOUS_RATE_LIMIT: about(
    integer(0).default(60),
    "Requests a minute of one address without a credential, and five times as many for pages of the console; 0 is no limit.",
  ),
  SIGNUP_RATE_LIMIT: about(
    integer(0).default(20),
    "Sign-up and sign-in requests a minute of one address; 0 is no limit.",
  ),
  ACCOUNT_ACTIVE_TURNS: about(
    integer(0, 1_000_000).default(50),
    "Turns and headless runs that one account may have active at a time, over all processes; 0 is no limit.",
  ),
};

const mail = {
  SMTP_URL: about(z.url({ protocol: /^smtps?$/ }).optional(), {
    description: "The mail server, as `smtps://user:password@host`. It needs `MAIL_FROM` too.",
    shownDefault: "none: mail is written to `DATA_DIR/mailbox`; on Vercel it must be set",
  }),
  MAIL_FROM: about(
    z.string().regex(SENDER, "is not an address").optional(),
    "The sender, as `Name <address>`.",
  ),
};

const connectors = {
  COMPOSIO_API_KEY: about(optionalText, {
    description: "Selects Composio's connectors.",
    shownDefault: "none: a consent page on this machine",
  }),
  COMPOSIO_BASE_URL: about(webUrl.default("https://backend.composio.dev"), "Composio's API."),
  CONNECTOR_CALLBACK_ORIGINS: about(listOf("an origin such as https://app.example.com", isOrigin), {
    description:
      "The origins that a `callback_url` may have, separated by commas. Set it in production.",
    shownDefault: "any https origin, with a warning at the start",
  }),
};

const lookups = {
  CATALOG_CLIENT_ID: about(optionalText, {
    description:
      "Selects the music catalog's web API (Spotify's, or one of its shape), together with the secret.",
    shownDefault: "none: the catalog in the database",
  }),
  CATALOG_CLIENT_SECRET: about(optionalText, "The secret of `CATALOG_CLIENT_ID`."),
  CATALOG_BASE_URL: about(webUrl.default("https://api.spotify.com/v1"), "The catalog's API."),
  CATALOG_TOKEN_URL: about(
    webUrl.default("https://accounts.spotify.com/api/token"),
    "Where the catalog's access tokens come from.",
  ),
  RESEARCH_API_KEY: about(optionalText, {
    description: "Selects the research web API (Songstats', or one of its shape).",
    shownDefault: "none: the catalog in the database",
  }),
  RESEARCH_BASE_URL: about(
    webUrl.default("https://api.songstats.com/enterprise/v1"),
    "The research API.",
  ),
};

const content = {
  TRIGGER_SECRET_KEY: about(optionalText, {
    description:
      "Selects a Trigger.dev project: its runs are listed, and with `CRON_SECRET` scheduled prompts and a vendor's images and videos are tasks there.",
    shownDefault: "none: the durable engine runs tasks",
  }),
  TRIGGER_API_URL: about(webUrl.default("https://api.trigger.dev"), "Trigger.dev's API."),
  FAL_KEY: about(optionalText, {
    description: "Selects fal for images and videos.",
    shownDefault:
      "none: they are rendered on this machine, or answered with 503 where the renderer is not installed, as on Vercel",
  }),
  FAL_BASE_URL: about(webUrl.default("https://queue.fal.run"), "fal's queue."),
  FAL_STORAGE_URL: about(
    webUrl.default("https://rest.fal.ai"),
    "Where fal takes files that it cannot fetch itself.",
  ),
  CONTENT_AT_ONCE: about(
    integer(0).default(20),
    "Images and videos that one account may have in the making; 0 is no limit.",
  ),
  ACCOUNT_MESSAGE_BYTES: about(
    integer(0).default(1024 ** 3),
    "Bytes of messages that one account may keep; 0 is no limit. Answers are counted, and stored even beyond it.",
  ),
  ACCOUNT_MEDIA_BYTES: about(
    integer(0).default(10 * 1024 ** 3),
    "Bytes of images and videos that one account may keep; 0 is no limit.",
  ),
  RENDERS_AT_ONCE: about(
    integer(1, 1_000).default(2),
    "Renderings on this machine at a time, divided between its server processes, of which each has at least one. In a process with two or more, one account has at most half of them.",
  ),
  MEDIA_BUCKET: about(
    z
      .string()
      .regex(/^[\w-]{1,63}$/)
      .default("media"),
    "The public bucket of the Supabase project for what is made. Without a project, files are in `DATA_DIR/media`.",
  ),
};

const webhooks = {};

const schedules = {
  TASK_INTERVAL_SECONDS: about(
    integer(0, 3_600).default(5),
    "Seconds between two looks of this process for scheduled prompts that are due; 0 leaves them to other processes, and to calls of `GET /api/cron/tasks`.",
  ),
  CRON_SECRET: about(z.string().min(16).optional(), {
    description:
      "The secret with which a scheduler, such as Vercel's cron jobs, calls `GET /api/cron/tasks`, and the tasks at Trigger.dev `POST /api/cron/task-runs/{id}`.",
    shownDefault: "none: both endpoints answer 503",
  }),
};

const retention = {
  RETENTION_INTERVAL_SECONDS: about(
    integer(0, 86_400).default(600),
    "Seconds between two runs of the retention job; 0 turns it off in this process.",
  ),
  RUN_TRACE_RETENTION_DAYS: about(
    integer(1, 36_500).default(30),
    "Days after its end that the trace of a run is kept: its steps and tool calls with their durations.",
  ),
  SANDBOX_RETENTION_DAYS: about(integer(0, 36_500).default(0), {
    description:
      "Days after the last turn of its session that a local sandbox is kept; its files are then deleted, and the session can have a new sandbox. 0 keeps sandboxes until they are stopped or their session is deleted.",
  }),
  REQUEST_LOG_RETENTION_DAYS: about(
    integer(0, 36_500).default(7),
    "Days that a request stays in the log of its account; 0 logs none.",
  ),
};

const telemetry = {
  OTEL_EXPORTER_OTLP_ENDPOINT: about(optionalUrl, {
    description:
      "The OpenTelemetry collector that traces and metrics are sent to, such as `http://localhost:4318`. The SDK's other variables apply as well, such as `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`.",
    shownDefault: "none: nothing is recorded, and no SDK is loaded",
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: about(
    z.enum(["http/protobuf", "http/json"]).default("http/protobuf"),
    "`http/protobuf` or `http/json`.",
  ),
  OTEL_TRACES_SAMPLER_ARG: about(
    z.coerce.number().min(0).max(1).default(1),
    "The share of traces that are recorded, from 0 to 1. The steps of a turn follow the request that started it.",
  ),
  OTEL_RECORD_CONTENT: about(
    flag(false),
    "Whether the spans of model calls have the prompts and the answers. Whoever reads the traces then reads the conversations.",
  ),
};

/** Variables that the launcher, the platform or a test sets, and an operator never does. */
const provided = {
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
  /** The number of processes that share the limits of this machine. */
  SERVER_PROCESSES: integer(1).default(1),
  /** Whether a server process checks the installation first. The launcher lets one of them do it. */
  CHECK_START: flag(true),
  /** The origin at which a server process reaches itself and no other. */
  SELF_ORIGIN: optionalUrl,
  /** Whether the database is the embedded one, as `GET /api/health` says. */
  EMBEDDED_SUPABASE: flag(false),
  VERCEL: flag(false),
  VERCEL_PROJECT_PRODUCTION_URL: optionalText,
  VERCEL_OIDC_TOKEN: optionalText,
  /** Whether every response body is checked against its contract. */
  CHECK_RESPONSES: flag(false),
  /** Requests with a credential at a time in one process. One account has at most half of them. */
  REQUESTS_AT_ONCE: integer(2, 100_000).default(128),
  /** Streams of turns that one account may hold open at one process. */
  ACCOUNT_STREAMS: integer(1, 2_000).default(100),
  /** How long a model call and a command wait for their turn; a rendering three times as long. */
  QUEUE_WAIT_MS: integer(1, 3_600_000).default(300_000),
  /** How long the APIs of the catalog and of research may take for one answer. */
  LOOKUP_TIMEOUT_MS: integer(1).default(10_000),
  /** How long the answer waits for an image or a video, which is made nevertheless. */
  CONTENT_TIMEOUT_MS: integer(1).default(280_000),
  WEBHOOK_TIMEOUT_MS: integer(100, 60_000).default(15_000),
  /** Whether callers may name media by http on this machine's loopback; by default in development. */
  MEDIA_LOOPBACK: flag(undefined),
  /** Whether endpoints of webhooks may be on this machine's loopback; by default in development. */
  WEBHOOK_LOOPBACK: flag(undefined),
  OTEL_BSP_SCHEDULE_DELAY: integer(1).default(5_000),
  OTEL_METRIC_EXPORT_INTERVAL: integer(1).default(60_000),
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
  { title: "Webhooks", settings: webhooks },
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
  ...webhooks,
  ...schedules,
  ...retention,
  ...telemetry,
  ...provided,
});
