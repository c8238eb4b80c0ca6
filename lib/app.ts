/**
 * The composition root: creates the adapter of each port as the settings select it, and loads no other.
 * A use case gets the parts that it needs as a parameter, and imports no adapter.
 */

import { join, resolve } from "node:path";
import { createPdfInspections } from "@platform/agent/inspect-pdf";
import { ContextWindows } from "@platform/agent/models/context-windows";
import { ModelOutages } from "@platform/agent/models/model-outages";
import type { ModelProvider } from "@platform/agent/models/port";
import type { FairQueue } from "@platform/kit/fair-queue";
import { localOrigin } from "@platform/kit/local-origin";
import { log } from "@platform/kit/log";
import { setProcessWide } from "@platform/kit/process-wide";
import { runtimePath } from "@platform/kit/runtime-path";
import { count, observe, observePool } from "@platform/kit/telemetry/metrics";
import type { MediaProvider } from "@platform/media/port";
import { createThumbnailCache } from "@platform/media/shrink-image";
import type { SandboxProvider } from "@platform/sandbox/port";
import type { CatalogProvider } from "./catalog/port.ts";
import type { ConnectorProvider } from "./connectors/port.ts";
import { createProxyCache } from "./content/proxy-image.ts";
import type { ContentStorage, MediaStorage } from "./content/storage/port.ts";
import { MailWorker } from "./delivery/mail-worker.ts";
import type { PostgresEngineOptions } from "./engine/adapters/postgres.ts";
import type { WorkflowEngineOptions } from "./engine/adapters/workflow/engine.ts";
import type { Engine } from "./engine/port.ts";
import { TokenVerifier } from "./identity/credentials/verify-bearer.ts";
import type { Mailer } from "./mail/port.ts";
import { MemoryWorker } from "./memory/worker.ts";
import type { App } from "./parts.ts";
import { type Config, poolSize, processShare } from "./platform/config.ts";
import { createDatabase } from "./platform/database/create-database.ts";
import type { Database } from "./platform/database/port.ts";
import { createQueues } from "./platform/queues.ts";
import { serviceOrigin } from "./platform/service-origin.ts";
import { RequestLog } from "./requests/request-log.ts";
import { insertRequests } from "./requests/store.ts";
import type { ResearchProvider } from "./research/port.ts";
import type { SearchProvider } from "./search/port.ts";
import type { TaskRunner } from "./task-runs/port.ts";
import { RunningTurns } from "./turns/running-turns.ts";
import { findStopped, selectRunOfTurn } from "./turns/store/runs.ts";
import { WebhookWorker } from "./webhooks/webhook-worker.ts";

/** The public bucket of the Supabase project for images and videos. */
const MEDIA_BUCKET = "media";
/** The private bucket for the contents of workspaces. */
const CONTENTS_BUCKET = "workspaces";
/** The disk quota of one local sandbox; a running one reserves all of it. */
const SANDBOX_DISK_BYTES = 512 * 1024 ** 2;

/** On Vercel no process lives long enough to own a run, so its World runs the turns. */
export async function createEngine(db: Database, settings: Config): Promise<Engine> {
  const { WORKFLOW_TARGET_WORLD: chosen, VERCEL } = settings;
  const databaseUrl = settings.DIRECT_DATABASE_URL ?? settings.DATABASE_URL;
  const common = {
    selfOrigin: settings.SELF_ORIGIN ?? localOrigin(settings.HOST, settings.PORT),
    reloadHandlers: settings.NODE_ENV === "development",
    onError: (error: unknown, runId?: string) =>
      log().error({ err: error, runId }, "durable engine"),
    findStopped: (turnIds: readonly string[]) => findStopped(db, turnIds),
    findRun: (turnId: string) => selectRunOfTurn(db, turnId),
    measurements: {
      count: (name, amount) => count(`agent_platform.${name}`, amount),
      observe: (name, read) => observe(`agent_platform.${name}`, read),
      observePool: (pool) => observePool("engine", pool),
    },
  } satisfies Partial<PostgresEngineOptions & WorkflowEngineOptions>;
  if (!chosen && !VERCEL && databaseUrl) {
    const { PostgresEngine } = await import("./engine/adapters/postgres.ts");
    return new PostgresEngine({ ...common, databaseUrl, maxConnections: poolSize(settings, 3) });
  }
  const { WorkflowEngine } = await import("./engine/adapters/workflow/engine.ts");
  const dataDir = runtimePath(resolve(settings.DATA_DIR), "workflow");
  return new WorkflowEngine({ ...common, world: chosen ?? "vercel", dataDir });
}

export async function createModels(settings: Config): Promise<ModelProvider> {
  const { AI_GATEWAY_API_KEY, OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey } = settings;
  const { offerModels } = await import("@platform/agent/models/offer-models");
  if (AI_GATEWAY_API_KEY) {
    const { createGatewayModels } = await import("@platform/agent/models/gateway");
    return offerModels(createGatewayModels({ apiKey: AI_GATEWAY_API_KEY }), settings);
  }
  if (baseUrl) {
    const { createOpenAiCompatibleModels } = await import(
      "@platform/agent/models/openai-compatible"
    );
    const offersAuto = !settings.DEFAULT_MODEL;
    const sendsCacheKey = settings.PROMPT_CACHE_KEY;
    const given = { baseUrl, apiKey, offersAuto, sendsCacheKey };
    return offerModels(createOpenAiCompatibleModels(given), settings);
  }
  const { createEmbeddedModels } = await import("@platform/agent/models/embedded");
  return offerModels(createEmbeddedModels(), settings);
}

export async function createSandboxes(db: Database, settings: Config): Promise<SandboxProvider> {
  const { VERCEL_TOKEN: token, VERCEL_TEAM_ID: teamId, VERCEL_PROJECT_ID: projectId } = settings;
  const credentials = token && teamId && projectId ? { token, teamId, projectId } : undefined;
  const allowedHosts = settings.SANDBOX_ALLOWED_HOSTS;
  const { traceSandboxes } = await import("@platform/sandbox/trace-sandboxes");
  const isRemote = credentials || settings.VERCEL;
  if (isRemote && settings.SANDBOX !== "system") {
    const { createVercelProvider } = await import("@platform/sandbox/vercel");
    const provider = createVercelProvider({
      ...(credentials && { credentials }),
      allowedHosts,
      serviceOrigin: settings.PUBLIC_URL,
    });
    return traceSandboxes(provider);
  }
  const create =
    settings.SANDBOX === "system"
      ? (await import("@platform/sandbox/system")).createSystemProvider
      : (await import("@platform/sandbox/local")).createLocalProvider;
  const { accountSpace } = await import("./sandbox/store.ts");
  const accountBytes = settings.ACCOUNT_SANDBOX_BYTES;
  const provider = create({
    rootDir: join(settings.DATA_DIR, "sandboxes"),
    diskQuota: SANDBOX_DISK_BYTES,
    startsAhead: settings.SANDBOXES_START_AHEAD > 0,
    space: accountBytes > 0 ? accountSpace(db, accountBytes) : undefined,
    maxJails: processShare(settings, settings.SANDBOX_COMMANDS_AT_ONCE, 2),
    maxWaitMs: settings.QUEUE_WAIT_MS,
    allowedHosts,
    serviceOrigin: serviceOrigin(),
  });
  return traceSandboxes(provider);
}

/** Null without a vendor where the renderer is not installed, as on Vercel. */
export async function createMediaProvider(
  {
    FAL_KEY: key,
    FAL_BASE_URL: baseUrl,
    FAL_STORAGE_URL: storageUrl,
    FAL_MODELS: models,
    DATA_DIR,
  }: Config,
  { probes, renderings }: Readonly<Record<"probes" | "renderings", FairQueue>>,
): Promise<MediaProvider | null> {
  if (key) {
    const { FalMedia } = await import("@platform/media/fal");
    return new FalMedia({ key, baseUrl, storageUrl, models, probes });
  }
  const { canRender } = await import("@platform/media/embedded/render-process");
  if (!canRender("images")) return null;
  const { EmbeddedMedia } = await import("@platform/media/embedded");
  const root = runtimePath(resolve(DATA_DIR), "content-work");
  return new EmbeddedMedia(root, { queue: renderings });
}

/** Media is stored with the database: on this machine's disk, or in the Supabase project's Storage. */
export async function createMediaStorage(settings: Config): Promise<MediaStorage> {
  if (!settings.EMBEDDED_SUPABASE) {
    const { SUPABASE_URL: url, SUPABASE_SECRET_KEY: secretKey } = settings;
    const { createSupabaseStorage } = await import("./content/storage/adapters/supabase.ts");
    return createSupabaseStorage({ url, secretKey, bucket: MEDIA_BUCKET });
  }
  const { createDiskStorage } = await import("./content/storage/adapters/disk.ts");
  const folder = runtimePath(resolve(settings.DATA_DIR), "media");
  return createDiskStorage({ folder, origin: serviceOrigin() });
}

/** The contents of workspaces are stored where media is. */
async function createContentStorage(settings: Config): Promise<ContentStorage> {
  if (!settings.EMBEDDED_SUPABASE) {
    const { SUPABASE_URL: url, SUPABASE_SECRET_KEY: secretKey } = settings;
    const { createSupabaseContents } = await import("./content/storage/adapters/supabase.ts");
    return createSupabaseContents({ url, secretKey, bucket: CONTENTS_BUCKET });
  }
  const { createDiskContents } = await import("./content/storage/adapters/disk.ts");
  return createDiskContents(runtimePath(resolve(settings.DATA_DIR), "workspaces"));
}

async function createTaskRunner(db: Database, settings: Config): Promise<TaskRunner> {
  const { TRIGGER_SECRET_KEY: secretKey, TRIGGER_API_URL: apiUrl, CRON_SECRET } = settings;
  const { createEmbeddedTaskRunner } = await import("./task-runs/adapters/embedded.ts");
  const own = createEmbeddedTaskRunner(db);
  if (!secretKey) return own;
  const { createTriggerTaskRunner } = await import("./task-runs/adapters/trigger/provider.ts");
  const { createJoinedTaskRunner } = await import("./task-runs/adapters/joined.ts");
  const startsTasks = CRON_SECRET !== undefined;
  return createJoinedTaskRunner(createTriggerTaskRunner({ secretKey, apiUrl, startsTasks }), own);
}

async function createCatalog(db: Database, settings: Config): Promise<CatalogProvider> {
  const { CATALOG_CLIENT_ID: clientId, CATALOG_CLIENT_SECRET: clientSecret } = settings;
  if (!clientId || !clientSecret) {
    return (await import("./catalog/adapters/embedded.ts")).createEmbeddedCatalog(db);
  }
  const { createWebApiCatalog } = await import("./catalog/adapters/web-api/provider.ts");
  return createWebApiCatalog({
    clientId,
    clientSecret,
    baseUrl: settings.CATALOG_BASE_URL,
    tokenUrl: settings.CATALOG_TOKEN_URL,
    timeoutMs: settings.VENDOR_TIMEOUT_MS,
  });
}

async function createResearch(db: Database, settings: Config): Promise<ResearchProvider> {
  const { RESEARCH_API_KEY: apiKey, RESEARCH_BASE_URL: baseUrl } = settings;
  if (!apiKey) return (await import("./research/adapters/embedded.ts")).createEmbeddedResearch(db);
  const { createWebApiResearch } = await import("./research/adapters/web-api.ts");
  return createWebApiResearch({ apiKey, baseUrl, timeoutMs: settings.VENDOR_TIMEOUT_MS });
}

async function createSearch(settings: Config): Promise<SearchProvider> {
  const { SEARCH_PROVIDER: chosen, SEARCH_API_KEY: key = "", SEARCH_BASE_URL: baseUrl } = settings;
  if (chosen === "brave") {
    const { createBraveSearch } = await import("./search/adapters/brave.ts");
    return createBraveSearch(key, baseUrl ?? "https://api.search.brave.com");
  }
  if (chosen === "exa") {
    const { createExaSearch } = await import("./search/adapters/exa.ts");
    return createExaSearch(key, baseUrl ?? "https://api.exa.ai");
  }
  if (chosen !== undefined) {
    return (await import("./search/adapters/searxng.ts")).createSearxngSearch(chosen);
  }
  return (await import("./search/adapters/embedded.ts")).createEmbeddedSearch();
}

/** Null without a vendor on a hosted database, because embedded connections reach no service. */
async function createConnectors(db: Database, settings: Config): Promise<ConnectorProvider | null> {
  const { COMPOSIO_API_KEY: apiKey, COMPOSIO_BASE_URL: baseUrl } = settings;
  const receivesEvents = settings.COMPOSIO_WEBHOOK_SECRET !== undefined;
  if (apiKey) {
    const { ComposioConnectors } = await import("./connectors/adapters/composio/provider.ts");
    const timeoutMs = settings.VENDOR_TIMEOUT_MS;
    return new ComposioConnectors({ db, apiKey, baseUrl, receivesEvents, timeoutMs });
  }
  if (!settings.EMBEDDED_SUPABASE) return null;
  const { createEmbeddedConnectors } = await import("./connectors/adapters/embedded/provider.ts");
  return createEmbeddedConnectors(db, serviceOrigin());
}

export async function createMailer(settings: Config): Promise<Mailer> {
  const { SMTP_URL: url, VENDOR_TIMEOUT_MS: timeoutMs } = settings;
  const from = settings.MAIL_FROM ?? "Agent Platform <no-reply@localhost>";
  if (url !== undefined) {
    const { createSmtpMailer } = await import("./mail/adapters/smtp.ts");
    return createSmtpMailer({ url, from, timeoutMs });
  }
  const { createMailboxMailer } = await import("./mail/adapters/mailbox.ts");
  const { mailboxFolder } = await import("./mail/mailbox-folder.ts");
  return createMailboxMailer({ folder: mailboxFolder(), from });
}

export async function createApp(settings: Config): Promise<App> {
  const db = setProcessWide("database", createDatabase(settings));
  const queues = createQueues(settings);
  const models = await createModels(settings);
  const media = await createMediaStorage(settings);
  return {
    db,
    engine: await createEngine(db, settings),
    models,
    modelOutages: new ModelOutages(),
    contextWindows: new ContextWindows(models, settings.DEFAULT_CONTEXT_WINDOW),
    sandboxes: setProcessWide("sandboxes", await createSandboxes(db, settings)),
    mediaProvider: await createMediaProvider(settings, queues),
    mediaStorage: media,
    contentStorage: await createContentStorage(settings),
    taskRunner: await createTaskRunner(db, settings),
    catalog: await createCatalog(db, settings),
    research: await createResearch(db, settings),
    search: await createSearch(settings),
    connectors: await createConnectors(db, settings),
    mail: await createMailer(settings),
    identity: new TokenVerifier(),
    queues,
    thumbnails: createThumbnailCache(),
    pdfInspections: createPdfInspections(),
    proxiedImages: createProxyCache(),
    describeApi: async () => (await import("./openapi/describe-run-api.ts")).describeRunApi(),
    agentTasks: () => import("./tasks/agent-tasks.ts"),
    judgeRequest: async (method: string, url: URL, body: string | undefined) => {
      const { judgeRequest } = await import("./openapi/registry.ts");
      return judgeRequest(method, url, body, (one) => media.keyOf(one) !== null);
    },
    runningTurns: new RunningTurns(),
    webhookWorker: new WebhookWorker(db),
    mailWorker: new MailWorker(),
    memoryWorker: new MemoryWorker(),
    requestLog: new RequestLog((requests) => insertRequests(db, requests)),
  };
}

/** Creates the parts of this process, which `currentApp()` returns from then on. */
export async function startApp(settings: Config): Promise<App> {
  return setProcessWide("app", await createApp(settings));
}
