/**
 * The only reader of `process.env`: parsed once, with a clear list of what is wrong.
 * The launcher (`scripts`) fills in what the embedded parts provide.
 */
import { z } from "zod";
import { processWide } from "./process-wide.ts";

const list = z
  .string()
  .optional()
  .transform((text) =>
    (text ?? "")
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  );
const flag = <F extends boolean | undefined>(fallback: F) =>
  z
    .enum(["true", "false", "1", "0"])
    .optional()
    .transform((value) => (value === undefined ? fallback : value === "true" || value === "1"));

const schema = z.object({
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
  /** The address to listen on; the launcher sets it, to loopback in development. */
  HOST: z.string().min(1).default("0.0.0.0"),
  PORT: z.coerce.number().int().min(1).max(65535).default(3000),
  /** Where the embedded parts and the local sandbox keep their data. */
  DATA_DIR: z.string().min(1).default(".data"),
  /** The origin callers reach, for links and the sandbox's calls back. */
  PUBLIC_URL: z.url().optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  /** Response bodies are checked against their contract when set. */
  CHECK_RESPONSES: flag(false),

  /** Set by the launcher when it started the embedded parts; only told by `GET /api/health`. */
  EMBEDDED_SUPABASE: flag(false),
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEY: z.string().min(1),
  /** Supabase's public key, by which the console signs people in; without it, it does not. */
  SUPABASE_PUBLISHABLE_KEY: z.string().min(1).optional(),
  /** The durable engine's PostgreSQL. On Vercel it may be left out: the platform runs the turns. */
  DATABASE_URL: z.string().min(1).optional(),
  /** Set by the platform on Vercel. */
  VERCEL: flag(false),

  /** Requests a minute, held in the database; 0 is no limit. No person meets the defaults. */
  ACCOUNT_RATE_LIMIT: z.coerce.number().int().min(0).default(6_000),
  ADDRESS_RATE_LIMIT: z.coerce.number().int().min(0).default(12_000),
  /** Turns and headless runs that one account may have active at a time; 0 is no limit. */
  ACCOUNT_ACTIVE_TURNS: z.coerce.number().int().min(0).max(1_000_000).default(50),
  /** Requests with a credential at a time in one process; one account has at most half of them. */
  REQUESTS_AT_ONCE: z.coerce.number().int().min(2).max(100_000).default(128),
  /** Streams of turns that one account may hold open at a process. */
  ACCOUNT_STREAMS: z.coerce.number().int().min(1).max(2_000).default(100),
  /** May catalog and research be asked without a credential? */
  ANONYMOUS_LOOKUPS: flag(true),
  /** Requests a minute of one address without a credential; 0 is no limit. */
  ANONYMOUS_RATE_LIMIT: z.coerce.number().int().min(0).default(60),
  /**
   * Proxies in front that append to `x-forwarded-for`: the caller is this many from its end. 0 takes
   * the other end of the connection. When not set: 1 on Vercel, else 0.
   */
  TRUSTED_PROXIES: z.coerce.number().int().min(0).optional(),

  /** Sign-up and verification requests a minute of one address; 0 is no limit. */
  SIGNUP_RATE_LIMIT: z.coerce.number().int().min(0).default(20),
  /** Where mail goes out, as `smtps://user:password@host`; without it, into files of DATA_DIR. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** The sender, as `Name <address>`. */
  MAIL_FROM: z.string().min(3).optional(),

  /** Third-party connections, by Composio; without it, a consent page beside the embedded database. */
  COMPOSIO_API_KEY: z.string().min(1).optional(),
  COMPOSIO_BASE_URL: z.url().default("https://backend.composio.dev"),
  /** Origins that may be named as `callback_url` of a connection; any https origin when empty. */
  CONNECTOR_CALLBACK_ORIGINS: list,

  /** Keys the HMAC of API keys and codes, and derives the key that seals stored secrets. */
  API_KEY_SECRET: z.string().min(32),

  /**
   * How bearers are verified: by the keys of OIDC_ISSUER when it is set, else with this shared HS256
   * secret (embedded or legacy Supabase auth), else by the keys of SUPABASE_URL's own auth.
   */
  SUPABASE_JWT_SECRET: z.string().min(32).optional(),
  /** The `iss` of Supabase's tokens, where it is not `<SUPABASE_URL>/auth/v1`. */
  SUPABASE_JWT_ISSUER: z.string().min(1).optional(),
  OIDC_ISSUER: z.string().min(1).optional(),
  OIDC_AUDIENCE: z.string().min(1).optional(),
  OIDC_JWKS_URL: z.url().optional(),
  OIDC_USERINFO_URL: z.url().optional(),
  /** Whether e-mails of OIDC_ISSUER are verified when it says nothing of it, as `email_verified`. */
  OIDC_EMAIL_VERIFIED_BY_DEFAULT: flag(false),

  AI_GATEWAY_API_KEY: z.string().min(1).optional(),
  OPENAI_BASE_URL: z.url().optional(),
  OPENAI_API_KEY: z.string().min(1).optional(),
  /** Model ids that callers may choose; the adapter's own list when empty. */
  MODELS: list,
  DEFAULT_MODEL: z.string().min(1).optional(),

  /** Model calls at a time in one process; one account has at most half of them. */
  MODEL_CALLS_AT_ONCE: z.coerce.number().int().min(2).max(100_000).default(128),
  /** Milliseconds that a model call waits for its turn among those of its account. */
  MODEL_CALL_WAIT_MS: z.coerce.number().int().min(1).max(3_600_000).default(300_000),

  VERCEL_TOKEN: z.string().min(1).optional(),
  VERCEL_TEAM_ID: z.string().min(1).optional(),
  VERCEL_PROJECT_ID: z.string().min(1).optional(),
  VERCEL_OIDC_TOKEN: z.string().min(1).optional(),
  /** Hosts with public addresses that the sandbox's commands may call besides the service itself. */
  SANDBOX_ALLOWED_HOSTS: list,
  /**
   * The music catalog's web API (Spotify's, or one of its shape) by client credentials; without
   * them, the catalog in the database.
   */
  CATALOG_CLIENT_ID: z.string().min(1).optional(),
  CATALOG_CLIENT_SECRET: z.string().min(1).optional(),
  CATALOG_BASE_URL: z.url().default("https://api.spotify.com/v1"),
  CATALOG_TOKEN_URL: z.url().default("https://accounts.spotify.com/api/token"),
  /** The research web API (Songstats', or one of its shape); without a key, the same catalog. */
  RESEARCH_API_KEY: z.string().min(1).optional(),
  RESEARCH_BASE_URL: z.url().default("https://api.songstats.com/enterprise/v1"),
  /** Milliseconds that the catalog's or the research's API may take for one answer. */
  LOOKUP_TIMEOUT_MS: z.coerce.number().int().min(1).default(10_000),
  /** Task runs of a Trigger.dev project; without a key, of the runner in this service. */
  TRIGGER_SECRET_KEY: z.string().min(1).optional(),
  TRIGGER_API_URL: z.url().default("https://api.trigger.dev"),
  /** Images and videos, by fal; without a key, made on this machine. */
  FAL_KEY: z.string().min(1).optional(),
  FAL_BASE_URL: z.url().default("https://queue.fal.run"),
  /** Where fal takes files that it cannot fetch itself. */
  FAL_STORAGE_URL: z.url().default("https://rest.fal.ai"),
  /** Milliseconds that the answer waits for an image or a video; the work goes on after them. */
  CONTENT_TIMEOUT_MS: z.coerce.number().int().min(1).default(280_000),
  /** Images and videos that one account may have in the making; 0 is no limit. */
  CONTENT_AT_ONCE: z.coerce.number().int().min(0).default(20),
  /** Bytes of media that one account may keep; 0 is no limit. */
  ACCOUNT_MEDIA_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .default(10 * 1024 ** 3),
  /** Renderings on this machine at a time; with two or more, one account has at most half of them. */
  RENDERS_AT_ONCE: z.coerce.number().int().min(1).max(1_000).default(2),
  /** Milliseconds that a rendering waits for its turn among those of its account. */
  RENDER_WAIT_MS: z.coerce.number().int().min(1).max(1_800_000).default(900_000),
  /** May callers name media by http on this machine's loopback? When not set: in development only. */
  MEDIA_LOOPBACK: flag(undefined),
  /** The public bucket of the Supabase project for what is made; without a project, on disk. */
  MEDIA_BUCKET: z
    .string()
    .regex(/^[\w-]{1,63}$/)
    .default("media"),
  /** Seconds between two runs of the retention job; 0 turns it off in this process. */
  RETENTION_INTERVAL_SECONDS: z.coerce.number().int().min(0).max(86_400).default(600),
  /** Days after its end that a task run keeps what it was asked. */
  TASK_INPUT_RETENTION_DAYS: z.coerce.number().int().min(1).default(30),
  /** Days that a connection is kept that was refused, or that nobody decided. */
  CONNECTION_RETENTION_DAYS: z.coerce.number().int().min(1).default(30),
  /** Days that mail stays in the mailbox folder. */
  MAILBOX_RETENTION_DAYS: z.coerce.number().int().min(1).default(7),
  /**
   * Bytes of files that all local sandboxes of one account may hold; 0 is no limit. A running sandbox
   * reserves its whole SANDBOX_DISK_QUOTA, so this should be many times that.
   */
  ACCOUNT_SANDBOX_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .default(20 * 1024 ** 3),
  /** Commands of the local sandbox at a time; one account runs at most half as many. */
  SANDBOX_COMMANDS_AT_ONCE: z.coerce.number().int().min(2).max(1_000).default(16),
  /** Milliseconds that a command waits for its turn among those of its account. */
  SANDBOX_WAIT_MS: z.coerce.number().int().min(1).max(3_600_000).default(300_000),
  /** Bytes of files one sandbox may hold. */
  SANDBOX_DISK_QUOTA: z.coerce
    .number()
    .int()
    .positive()
    .default(512 * 1024 * 1024),
});

const checked = schema
  .refine((settings) => !settings.SMTP_URL || settings.MAIL_FROM, {
    path: ["MAIL_FROM"],
    error: "must be set with SMTP_URL, to an address that its server sends for",
  })
  .refine((settings) => !settings.OIDC_ISSUER || settings.OIDC_AUDIENCE, {
    path: ["OIDC_AUDIENCE"],
    error: "must be set with OIDC_ISSUER, or tokens for other services would be accepted",
  })
  .refine(({ CATALOG_CLIENT_ID: id, CATALOG_CLIENT_SECRET: secret }) => !id === !secret, {
    path: ["CATALOG_CLIENT_SECRET"],
    error: "must be set together with CATALOG_CLIENT_ID",
  })
  .refine((settings) => settings.DATABASE_URL || settings.VERCEL, {
    path: ["DATABASE_URL"],
    error: "must be set, unless this runs on Vercel: durable turns need it",
  });

export type Config = z.output<typeof schema>;

/** @throws Error with one line for each setting that is missing or malformed. */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = checked.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`Settings are missing or malformed:\n${lines.join("\n")}`);
}

/** Returns the settings of this process, parsed from its environment at the first call. */
export function config(): Config {
  return processWide("config", () => parseConfig(process.env));
}
