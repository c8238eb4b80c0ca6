/** Client of the Agent Platform API for Node, browsers and edge runtimes: web APIs only. */
export { ApiError, type ErrorCode } from "./api-error.ts";
export type { ConnectionOptions } from "./connection.ts";
export { type Client, createClient } from "./create-client.ts";
export type { FileAddress, FileContent, WrittenFile } from "./files.ts";
export type { components, paths } from "./generated/api.ts";
export type { ClientTool, RunOptions, StandardSchema } from "./run.ts";
export type {
  ChatAddress,
  Chunk,
  ResumeOptions,
  StoredMessage,
  TurnEvent,
  TurnOptions,
} from "./stream-turn.ts";
export { verifyWebhook, type WebhookEvent, WebhookVerificationError } from "./verify-webhook.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Run,
  ToolCall,
  WaitOptions,
} from "./wait-for-run.ts";
