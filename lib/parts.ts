/**
 * The parts of a process as functions receive them: an adapter of each port, and the queues, caches and workers. The
 * composition root (app.ts) creates them once from the settings.
 */

import type { PdfInspections } from "@platform/agent/inspect-pdf";
import type { ContextWindows } from "@platform/agent/models/context-windows";
import type { ModelOutages } from "@platform/agent/models/model-outages";
import type { ModelProvider } from "@platform/agent/models/port";
import type { AppError } from "@platform/endpoint/contract/app-error";
import type { EffectLine } from "@platform/endpoint/contract/approvals";
import type { OwnRequest } from "@platform/endpoint/contract/effects";
import type { RunOptions } from "@platform/endpoint/contract/run-options";
import type { TtlCache } from "@platform/kit/ttl-cache";
import type { MediaProvider } from "@platform/media/port";
import type { ThumbnailCache } from "@platform/media/shrink-image";
import type { SandboxProvider } from "@platform/sandbox/port";
import type { JSONValue } from "ai";
import type { CatalogProvider } from "./catalog/port.ts";
import type { ConnectorProvider } from "./connectors/port.ts";
import type { ContentStorage, MediaStorage } from "./content/storage/port.ts";
import type { Engine } from "./engine/port.ts";
import type { TokenVerifier } from "./identity/credentials/verify-bearer.ts";
import type { Mailer } from "./mail/port.ts";
import type { Database } from "./platform/database/port.ts";
import type { Queues } from "./platform/queues.ts";
import type { RequestLog } from "./requests/request-log.ts";
import type { ResearchProvider } from "./research/port.ts";
import type { SearchProvider } from "./search/port.ts";
import type { TaskRunner } from "./task-runs/port.ts";
import type { RunningTurns } from "./turns/running-turns.ts";

export interface App {
  readonly db: Database;
  readonly engine: Engine;
  readonly models: ModelProvider;
  readonly modelOutages: ModelOutages;
  readonly contextWindows: ContextWindows;
  readonly sandboxes: SandboxProvider;
  /** Null where nothing can make videos and images. */
  readonly mediaProvider: MediaProvider | null;
  readonly mediaStorage: MediaStorage;
  readonly contentStorage: ContentStorage;
  readonly taskRunner: TaskRunner;
  readonly catalog: CatalogProvider;
  readonly research: ResearchProvider;
  readonly search: SearchProvider;
  /** Null where no accounts can be connected. */
  readonly connectors: ConnectorProvider | null;
  readonly mail: Mailer;
  readonly identity: TokenVerifier;
  readonly queues: Queues;
  readonly thumbnails: ThumbnailCache;
  readonly pdfInspections: PdfInspections;
  readonly proxiedImages: TtlCache<ProxiedImage | AppError>;
  /** Resolves with the texts of the built-in skill `platform-api` by path. */
  readonly describeApi: () => Promise<Readonly<Record<string, string>>>;
  readonly agentTasks: () => Promise<AgentTasks>;
  /** Resolves with a request to this service as its router understands it; null without such an operation. */
  readonly judgeRequest: (
    method: string,
    url: URL,
    body: string | undefined,
  ) => Promise<OwnRequest | null>;
  readonly runningTurns: RunningTurns;
  /** Sends the events of webhooks. */
  readonly webhookWorker: Pick<Worker<[]>, "wake">;
  readonly mailWorker: Worker<[Parts<"webhookWorker" | "mail" | "queues" | "sandboxes">]>;
  /** Condenses memories. */
  readonly memoryWorker: Worker<[Parts<"contentStorage" | "modelOutages" | "models" | "queues">]>;
  readonly requestLog: RequestLog;
}

/** The parts that a function needs, such as `Parts<"engine" | "models">`. */
export type Parts<Name extends keyof App> = Pick<App, Name>;

/** The tasks of the agent's tools, whose modules only a turn loads that uses them. */
interface AgentTasks {
  planTask(
    input: unknown,
    turn: TaskTurn,
  ): { readonly effect: readonly EffectLine[] } | { readonly error: string };
  scheduleTask(
    parts: Parts<"models" | "queues">,
    turn: TaskTurn & { readonly account_id: string },
    id: string,
    input: unknown,
  ): Promise<JSONValue>;
  listTasks(db: Database, accountId: string): Promise<JSONValue>;
}
interface TaskTurn {
  readonly artist_id: string | null;
  readonly options: RunOptions;
}

export interface ProxiedImage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** Works on the rows of a queue in the database. */
interface Worker<Needs extends readonly unknown[]> {
  /** Claims work that is due. Never throws. */
  wake(...needs: Needs): void;
  untilIdle(deadline: AbortSignal): Promise<void>;
}
