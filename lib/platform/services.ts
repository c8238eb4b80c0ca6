/**
 * The composition root: creates the adapter of each port, once per process, as the settings select it.
 * It is the only file of this folder that imports domains. A domain gets its service from `services()`
 * and never imports an adapter.
 */
import { join, resolve } from "node:path";
import { createEmbeddedModels } from "../agent/models/adapters/embedded/models.ts";
import { createGatewayModels } from "../agent/models/adapters/gateway.ts";
import { createOpenAiCompatibleModels } from "../agent/models/adapters/openai-compatible.ts";
import { offerModels } from "../agent/models/offer-models.ts";
import type { ModelProvider } from "../agent/models/port.ts";
import { createEmbeddedCatalog } from "../catalog/adapters/embedded.ts";
import { createWebApiCatalog } from "../catalog/adapters/web-api/provider.ts";
import type { CatalogProvider } from "../catalog/port.ts";
import { createComposioConnectors } from "../connectors/adapters/composio.ts";
import { createEmbeddedConnectors } from "../connectors/adapters/embedded/provider.ts";
import type { ConnectorProvider } from "../connectors/port.ts";
import { createEmbeddedContent } from "../content/adapters/embedded/provider.ts";
import { renderQueue } from "../content/adapters/embedded/render-queue.ts";
import { canRender } from "../content/adapters/embedded/renderer.ts";
import { createFalContent } from "../content/adapters/fal/provider.ts";
import type { ContentProvider } from "../content/port.ts";
import { createDiskStorage } from "../content/storage/adapters/disk.ts";
import { createSupabaseStorage } from "../content/storage/adapters/supabase.ts";
import type { MediaStorage } from "../content/storage/port.ts";
import { PostgresEngine, type PostgresEngineOptions } from "../engine/adapters/postgres/engine.ts";
import { WorkflowEngine, type WorkflowEngineOptions } from "../engine/adapters/workflow/engine.ts";
import type { Engine } from "../engine/port.ts";
import { createMailboxMailer } from "../mail/adapters/mailbox.ts";
import { createSmtpMailer } from "../mail/adapters/smtp.ts";
import { mailboxFolder } from "../mail/mailbox-folder.ts";
import type { Mailer } from "../mail/port.ts";
import { createEmbeddedResearch } from "../research/adapters/embedded.ts";
import { createWebApiResearch } from "../research/adapters/web-api.ts";
import type { ResearchProvider } from "../research/port.ts";
import { accountSpace } from "../sandbox/account-space.ts";
import { createLocalProvider } from "../sandbox/adapters/local/provider.ts";
import { createSystemProvider } from "../sandbox/adapters/system/provider.ts";
import { createVercelProvider } from "../sandbox/adapters/vercel/provider.ts";
import type { SandboxProvider } from "../sandbox/port.ts";
import { traceSandboxes } from "../sandbox/trace-sandboxes.ts";
import { createEmbeddedTaskRunner } from "../tasks/adapters/embedded.ts";
import { createJoinedTaskRunner } from "../tasks/adapters/joined.ts";
import { createTriggerTaskRunner } from "../tasks/adapters/trigger/provider.ts";
import type { TaskRunner } from "../tasks/port.ts";
import { findStopped, selectRunOfTurn } from "../turns/store/runs.ts";
import { type Config, config } from "./config.ts";
import { observePool } from "./database/telemetry.ts";
import { localOrigin } from "./local-origin.ts";
import { log } from "./log.ts";
import { poolSize, processShare } from "./process-share.ts";
import { processWide } from "./process-wide.ts";
import { runtimePath } from "./runtime-path.ts";
import { serviceOrigin } from "./service-origin.ts";
import { count } from "./telemetry/metrics.ts";

/** The deadline of one call of the connector provider or the mail server. */
const DEADLINE_MS = 10_000;
/** The maximum for the files of one local sandbox; a running one reserves all of it. */
const SANDBOX_DISK_BYTES = 512 * 1024 ** 2;

const factories = {
  /** On Vercel no process lives long enough to own a run, so its World runs the turns. */
  engine(settings: Config): Engine {
    const { DATABASE_URL: databaseUrl, WORKFLOW_TARGET_WORLD: chosen, VERCEL } = settings;
    const common = {
      selfOrigin: settings.SELF_ORIGIN ?? localOrigin(settings.HOST, settings.PORT),
      reloadHandlers: settings.NODE_ENV === "development",
      onError: (error: unknown, runId?: string) =>
        log().error({ err: error, runId }, "durable engine"),
      findStopped,
      findRun: selectRunOfTurn,
      measurements: {
        count: (name, amount) => count(`agent_platform.${name}`, amount),
        observePool: (pool) => observePool("engine", pool),
      },
    } satisfies Partial<PostgresEngineOptions & WorkflowEngineOptions>;
    if (!chosen && !VERCEL && databaseUrl) {
      const maxConnections = poolSize(settings, 3);
      return new PostgresEngine({ ...common, databaseUrl, maxConnections });
    }
    const dataDir = runtimePath(resolve(settings.DATA_DIR), "workflow");
    return new WorkflowEngine({ ...common, world: chosen ?? "vercel", dataDir });
  },

  models(settings: Config): ModelProvider {
    const { AI_GATEWAY_API_KEY, OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey } = settings;
    const provider = AI_GATEWAY_API_KEY
      ? createGatewayModels({ apiKey: AI_GATEWAY_API_KEY })
      : baseUrl
        ? createOpenAiCompatibleModels({ baseUrl, apiKey, offersAuto: !settings.DEFAULT_MODEL })
        : createEmbeddedModels();
    return offerModels(provider, settings);
  },

  sandboxes(settings: Config): SandboxProvider {
    const { VERCEL_TOKEN: token, VERCEL_TEAM_ID: teamId, VERCEL_PROJECT_ID: projectId } = settings;
    const credentials = token && teamId && projectId ? { token, teamId, projectId } : undefined;
    const allowedHosts = settings.SANDBOX_ALLOWED_HOSTS;
    const isRemote = credentials || settings.VERCEL_OIDC_TOKEN || settings.VERCEL;
    if (isRemote && settings.SANDBOX !== "system") {
      const provider = createVercelProvider({
        ...(credentials && { credentials }),
        allowedHosts,
        serviceOrigin: settings.PUBLIC_URL,
      });
      return traceSandboxes(provider);
    }
    const create = settings.SANDBOX === "system" ? createSystemProvider : createLocalProvider;
    const provider = create({
      rootDir: join(settings.DATA_DIR, "sandboxes"),
      diskQuota: SANDBOX_DISK_BYTES,
      space:
        settings.ACCOUNT_SANDBOX_BYTES > 0
          ? accountSpace(settings.ACCOUNT_SANDBOX_BYTES)
          : undefined,
      maxJails: processShare(settings, settings.SANDBOX_COMMANDS_AT_ONCE, 2),
      maxWaitMs: settings.QUEUE_WAIT_MS,
      allowedHosts,
      serviceOrigin: serviceOrigin(),
    });
    return traceSandboxes(provider);
  },

  /** Null without a vendor where the renderer is not installed, as on Vercel. */
  content({
    FAL_KEY: key,
    FAL_BASE_URL: baseUrl,
    FAL_STORAGE_URL: storageUrl,
  }: Config): ContentProvider | null {
    if (key) return createFalContent({ key, baseUrl, storageUrl });
    return canRender("images") ? createEmbeddedContent({ queue: renderQueue() }) : null;
  },

  /** Media is stored with the database: on this machine's disk, or in the Supabase project's Storage. */
  media(settings: Config): MediaStorage {
    const { SUPABASE_URL: url, SUPABASE_SECRET_KEY: secretKey, MEDIA_BUCKET: bucket } = settings;
    if (!settings.EMBEDDED_SUPABASE) return createSupabaseStorage({ url, secretKey, bucket });
    return createDiskStorage({
      folder: runtimePath(resolve(settings.DATA_DIR), "media"),
      origin: serviceOrigin(),
    });
  },

  tasks({
    TRIGGER_SECRET_KEY: secretKey,
    TRIGGER_API_URL: apiUrl,
    CRON_SECRET,
  }: Config): TaskRunner {
    const own = createEmbeddedTaskRunner();
    if (!secretKey) return own;
    const startsTasks = CRON_SECRET !== undefined;
    return createJoinedTaskRunner(createTriggerTaskRunner({ secretKey, apiUrl, startsTasks }), own);
  },

  catalog(settings: Config): CatalogProvider {
    const { CATALOG_CLIENT_ID: clientId, CATALOG_CLIENT_SECRET: clientSecret } = settings;
    if (!clientId || !clientSecret) return createEmbeddedCatalog();
    return createWebApiCatalog({
      clientId,
      clientSecret,
      baseUrl: settings.CATALOG_BASE_URL,
      tokenUrl: settings.CATALOG_TOKEN_URL,
      timeoutMs: settings.LOOKUP_TIMEOUT_MS,
    });
  },

  research({
    RESEARCH_API_KEY: apiKey,
    RESEARCH_BASE_URL: baseUrl,
    LOOKUP_TIMEOUT_MS,
  }: Config): ResearchProvider {
    if (!apiKey) return createEmbeddedResearch();
    return createWebApiResearch({ apiKey, baseUrl, timeoutMs: LOOKUP_TIMEOUT_MS });
  },

  /** Null without a vendor on a hosted database, because embedded connections reach no service. */
  connectors(settings: Config): ConnectorProvider | null {
    const { COMPOSIO_API_KEY: apiKey, COMPOSIO_BASE_URL: baseUrl } = settings;
    if (apiKey) return createComposioConnectors({ apiKey, baseUrl, timeoutMs: DEADLINE_MS });
    return settings.EMBEDDED_SUPABASE ? createEmbeddedConnectors(serviceOrigin()) : null;
  },

  mail({ SMTP_URL: url, MAIL_FROM }: Config): Mailer {
    const from = MAIL_FROM ?? "Agent Platform <no-reply@localhost>";
    if (url !== undefined) return createSmtpMailer({ url, from, timeoutMs: DEADLINE_MS });
    return createMailboxMailer({ folder: mailboxFolder(), from });
  },
};

type Factories = typeof factories;
export type Services = { readonly [Name in keyof Factories]: ReturnType<Factories[Name]> };

/** Returns the services of this process. Each is created when it is first used. */
export function services(): Services {
  return processWide("services", () => createServices(config()));
}

export function createServices(settings: Config): Services {
  const created = {} as Services;
  for (const [name, create] of Object.entries(factories)) {
    Object.defineProperty(created, name, {
      configurable: true,
      get() {
        const value = create(settings);
        Object.defineProperty(created, name, { value });
        return value;
      },
    });
  }
  return created;
}
